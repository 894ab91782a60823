/**
 * The rule for a field, other than From, in which a reader sees, or a program trusts, who a mail is from.
 *
 * - `own`: it stays if it names addresses from which the account may send.
 * - `elsewhere`: it stays unless it says that this service wrote it.
 * - `verified`: it stays if it is a signature that verifies.
 * - `removed`: only a receiver writes it.
 */
export type IdentityRule = 'own' | 'elsewhere' | 'verified' | 'removed'

/**
 * For every entry point (decision 45). A relayed message loses what may not stay, a v2 call may have none of them, and v3 leaves out all but a Sender of the
 * account.
 */
const IDENTITY_FIELDS: ReadonlyMap<string, IdentityRule> = new Map([
  // RFC 5322 3.6.2 and 3.6.6. Readers show them beside From, as "on behalf of" or "resent by".
  ['sender', 'own'],
  ['resent-from', 'own'],
  ['resent-sender', 'own'],
  // RFC 8601 5, RFC 7208 9.1: programs trust what bears the name of a host of theirs.
  ['authentication-results', 'elsewhere'],
  ['received-spf', 'elsewhere'],
  // RFC 6376 6.1. ARC sets stay (RFC 8617 5.1): what is in them is sealed, and each is judged by who sealed it.
  ['dkim-signature', 'verified'],
  // draft-brand-indicators-for-message-identification 5: what a receiver found, for the program that shows the logo.
  ['bimi-location', 'removed'],
  ['bimi-indicator', 'removed'],
])

/** Undefined for a field that names no sender. `name` is in lower case. */
export function identityRuleOf(name: string): IdentityRule | undefined {
  return IDENTITY_FIELDS.get(name)
}

/** Whether a field is removed together with a Resent-From or Resent-Sender: a block of them has all its fields (RFC 5322 3.6.6). */
export function isResentField(name: string): boolean {
  return name.startsWith('resent-')
}

const MAX_FIELD = 8192
const RECEIVER = /\breceiver\s{0,10}=\s{0,10}"?([\w.-]{1,255})/g

/** Whether Authentication-Results or Received-SPF says that one of these hosts wrote it, which are in lower case. */
export function isWrittenBy(hosts: ReadonlySet<string>, name: string, value: string): boolean {
  const text = value.slice(0, MAX_FIELD).toLowerCase()
  const bare = withoutComments(text)
  // RFC 7208 9.1: there may be comments around the sign, and one may have another receiver.
  if (name === 'received-spf')
    return Array.from(`${text} ${bare}`.matchAll(RECEIVER)).some(([, host = '']) => hosts.has(host))
  // RFC 8601 2.2: comments may precede the name.
  const rest = bare.trimStart()
  return hosts.has(/^"?([^\s;"/]{1,255})/.exec(rest)?.[1]?.replace(/\.$/, '') ?? '')
}

function withoutComments(text: string): string {
  let [depth, kept] = [0, '']
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string
    if (char === '\\' && depth > 0) at++
    else if (char === '(') depth++
    else if (char === ')' && depth > 0) depth--
    else if (depth === 0) kept += char
  }
  return kept
}
