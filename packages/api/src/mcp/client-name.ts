/** Characters of the name in the audit log: it is the client's own. */
const MAX_LENGTH = 80
const UNKNOWN = 'unknown program'

export interface ClientInfo {
  readonly name?: unknown
  readonly version?: unknown
}

/** The client as each call of protocol 2026-07-28 describes it, unchecked. The library's type of it has no members. */
export interface Envelope {
  readonly 'io.modelcontextprotocol/clientInfo'?: ClientInfo
  readonly 'io.modelcontextprotocol/clientCapabilities'?: { readonly elicitation?: unknown }
}

/** The program of an agent as it names itself: "claude-code 2.1.0". */
export function programName(info: ClientInfo | undefined): string | undefined {
  const texts = [info?.name, info?.version].filter((text) => typeof text === 'string')
  return texts.length === 0 ? undefined : cleaned(texts.join(' '))
}

/** Only printable ASCII, so that no name can look like another or change how a log is shown. */
function cleaned(text: string): string {
  const printable = text.slice(0, MAX_LENGTH * 4).replaceAll(/[^\x21-\x7e]+/g, ' ')
  return printable.trim().slice(0, MAX_LENGTH) || UNKNOWN
}

/**
 * The id of a session of the older protocol is the name of the program in base64url: it names itself once, in its first call, and every process has
 * to know it afterwards. Nothing else belongs to a session, and it permits nothing.
 */
export function sessionId(program: string): string {
  return Buffer.from(program).toString('base64url')
}

/** The program of a call of the older protocol, by the id of its session or its User-Agent. */
export function programOf(session: string | undefined, userAgent: string | undefined): string {
  if (session !== undefined)
    return cleaned(Buffer.from(session.slice(0, MAX_LENGTH * 2), 'base64url').toString('latin1'))
  return userAgent === undefined ? UNKNOWN : cleaned(userAgent)
}
