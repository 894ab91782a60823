import { type BounceClass, bounceClass } from './bounce-rules.ts'
import type { Reply } from './outcome.ts'

/**
 * Whom a refusal speaks of, if not of the recipient: this service (its address, reputation or volume), the message or its sender, or the sending
 * domain's SPF, DKIM or DMARC.
 */
export type RefusalMeaning = 'service' | 'message' | 'authentication'

/** A greylister refuses each first attempt, of all senders. */
export const GREYLISTED = /gr[ae]y\s?list/i
/** The classes of a permanent refusal of senders. One for now that is about the rate asks to be slower, not to stop. */
const OF_SENDERS: ReadonlySet<BounceClass> = new Set(['spam', 'policy', 'rate', 'authentication'])
const OF_SENDERS_FOR_NOW: ReadonlySet<BounceClass> = new Set(['spam', 'policy', 'authentication'])
/** A policy for now that says no more is most often that of a greylister. */
const IS_BLOCK = /\breputation\b|\bblock(?:ed|ing)?\b|\b(?:block|black|deny)[- ]?list|\b(?:listed|banned|rbl|dnsbl)\b/i
/** The host has no valid name, which its operator must correct, not the sending domain's owner (RFC 7372 3.3: 5.7.25). */
const OF_HOST_NAME = /\bptr\b|\brdns\b|reverse (dns|hostname|lookup)|\bname lookup\b|\bhost\s?name\b/i
const OF_HOST_NAME_CODE = /^[45]\.7\.25$/
/** Content, or an address of the sender; unless the reply speaks of an address or host of ours. */
const OF_MESSAGE = /\b(content|body|attachment|subject|header|link|url|virus|malware|phishing|sender)\b/i
const [SPAM, OF_MAIL] = [/\bspam\b/i, /\b(message|e-?mail|mail|score)\b/i]
const OF_ADDRESS =
  /\b(ip|ips|host|server|client|network|connection|mta)\b|\breputation\b|\b(block|black|deny)[- ]?list|\brbl\b|\bdnsbl\b|\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b/i

/** Whom the reply of a server refuses; undefined if it accepts, or refuses for the recipient, for now, or for a fault. */
export function refusalMeaning({ code, enhanced, text }: Reply): RefusalMeaning | undefined {
  if (code < 400 || GREYLISTED.test(text)) return undefined
  const found = bounceClass(enhanced, text)
  if (!(code < 500 ? OF_SENDERS_FOR_NOW : OF_SENDERS).has(found)) return undefined
  if (code < 500 && found === 'policy' && !IS_BLOCK.test(text)) return undefined
  if (found === 'authentication') {
    return OF_HOST_NAME_CODE.test(enhanced) || OF_HOST_NAME.test(text) ? 'service' : 'authentication'
  }
  const isOfMessage = OF_MESSAGE.test(text) || (SPAM.test(text) && OF_MAIL.test(text))
  return isOfMessage && !OF_ADDRESS.test(text) ? 'message' : 'service'
}
