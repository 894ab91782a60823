import { isUtf8 } from 'node:buffer'
import { isUserName, parseAddress } from '@postrider/core'

/** The parsed path of MAIL FROM or RCPT TO, with the same address rules as in every other entry point. */
export interface ParsedPath {
  /** Canonical; empty for the null sender. */
  readonly address: string
  /** The client wrote the address in ASCII. In `address` the domain is always in A-labels. */
  readonly ascii: boolean
  readonly args: Record<string, string | true> | false
  readonly duplicate?: string
}

const CONTROL = /[\x00-\x1f\x7f-\x9f]/
/** RFC 5321 4.1.2 and appendix C: a source route must be accepted and should be ignored. */
const SOURCE_ROUTE = /^@[^\s,:@]+(?:,@[^\s,:@]+)*:/

interface Domains {
  /** That of `RCPT TO:<postmaster>` (RFC 5321 4.5.1). */
  readonly host: string
  /** That of other recipients without one, such as `root`, to whom cron and msmtp send (RFC 6409 4.2); undefined: they are a syntax error. */
  readonly sender?: string | undefined
}

/**
 * Parses `MAIL FROM:<path> KEY=value …` (RFC 5321 4.1.1.2, 4.1.1.3), and adds a domain to a recipient without one. Returns false for a syntax error.
 */
export function parsePath(
  name: 'MAIL FROM' | 'RCPT TO',
  octets: Buffer,
  { host, sender }: Domains,
): ParsedPath | false {
  // toString() would replace each invalid byte by U+FFFD and thereby produce another address.
  if (!isUtf8(octets)) return false
  const command = octets.toString()
  const colon = command.indexOf(':')
  if (colon === -1 || command.slice(0, colon).trim().replace(/\s+/g, ' ').toUpperCase() !== name) return false
  const rest = command.slice(colon + 1).trim()
  if (CONTROL.test(rest) || !rest.startsWith('<')) return false
  const end = endOfPath(rest)
  if (end === -1) return false
  const path = rest.slice(1, end).replace(SOURCE_ROUTE, '')
  const parameters = rest.slice(end + 1)
  if (parameters !== '' && !parameters.startsWith(' ')) return false
  const args = parseParameters(parameters)
  if (!args) return false
  if (path === '') return name === 'MAIL FROM' ? { address: '', ascii: true, ...args } : false
  const domain = name === 'MAIL FROM' ? undefined : domainFor(path, { host, sender })
  const address = parseAddress(domain === undefined ? path : `${path}@${domain}`)
  return address ? { address: address.text, ascii: !/[^\x00-\x7f]/.test(path), ...args } : false
}

function domainFor(path: string, { host, sender }: Domains): string | undefined {
  if (path.toLowerCase() === 'postmaster') return host
  return isUserName(path) ? sender : undefined
}

/** Offset of the closing bracket; skips quoted strings. */
function endOfPath(text: string): number {
  let quoted = false
  for (let at = 1; at < text.length; at++) {
    const char = text[at]
    if (quoted && char === '\\') at++
    else if (char === '"') quoted = !quoted
    else if (char === '>' && !quoted) return at
  }
  return -1
}

function parseParameters(text: string): Pick<ParsedPath, 'args' | 'duplicate'> | undefined {
  const args: Record<string, string | true> = {}
  let duplicate: string | undefined
  for (const parameter of text.split(' ')) {
    if (parameter === '') continue
    const [key = '', ...value] = parameter.split('=')
    const name = key.toUpperCase()
    if (!/^[A-Z0-9][A-Z0-9-]*$/.test(name)) return undefined
    if (Object.hasOwn(args, name)) duplicate = name
    args[name] = value.length === 0 ? true : value.join('=')
  }
  return { args: Object.keys(args).length > 0 ? args : false, ...(duplicate ? { duplicate } : {}) }
}
