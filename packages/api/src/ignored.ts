import type { FastifyReply } from 'fastify'

/** The header of answers that names what a call had without effect, as a list of strings (RFC 9651 3.1). */
const IGNORED_HEADER = 'ignored-parameters'
/** Names in it and characters of one: they are the client's own. */
export const MAX_NAMES = 20
const MAX_LENGTH = 100

/** Says in the answer which parameters were ignored, besides those that it says already. Without any, there is no header. */
export function sayIgnored(reply: FastifyReply, names: readonly string[]): void {
  if (names.length === 0) return
  const said = reply.getHeader(IGNORED_HEADER)
  const shown = names.slice(0, MAX_NAMES).map(quoted)
  const all = [...(said === undefined ? [] : [said]), ...shown, ...(names.length > MAX_NAMES ? ['"..."'] : [])]
  reply.header(IGNORED_HEADER, all.join(', '))
}

/** Only printable ASCII may be in a string (RFC 9651 3.3.3). */
function quoted(name: string): string {
  const written = name
    .slice(0, MAX_LENGTH)
    .replace(/[^\x20-\x7e]+/g, (text) => encodeURIComponent(text.toWellFormed()))
    // Of some scripts, nine characters stand for one: a proxy refuses answers with long headers, after the message was accepted.
    .slice(0, MAX_LENGTH)
    .replace(/["\\]/g, '\\$&')
  return `"${written}"`
}
