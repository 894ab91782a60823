import type { Parties, Stage } from './outcome.ts'
import { CLOSED, FILTERED, FULL, UNKNOWN } from './wordings-of-recipients.ts'
import { OF_SENDER, PERHAPS_OF_SENDER, PLAINLY_OF_SENDER } from './wordings-of-senders.ts'

/**
 * The reason why a server rejected mail, derived from its reply. The first matching rule wins. A new wording needs one line
 * here and one line in the test. Enhanced codes are those of RFC 3463 and its IANA registry.
 */
export const BOUNCE_CLASSES = [
  'bad-mailbox',
  'bad-domain',
  'moved',
  'not-accepting',
  'mailbox-full',
  'mailbox-inactive',
  'filtered',
  'too-large',
  'policy',
  'spam',
  'authentication',
  'rate',
  'relay',
  'protocol',
  'network',
  'expired',
  'system',
  'other',
] as const
export type BounceClass = (typeof BOUNCE_CLASSES)[number]

/**
 * Classes that mean that no mail will ever reach the address: hard bounces. All others are soft: the address may accept the next
 * message.
 */
export const HARD_CLASSES: readonly BounceClass[] = ['bad-mailbox', 'bad-domain', 'moved', 'not-accepting']

/** The classes of replies that a filter or a policy of the receiver caused. */
export const BLOCKED_CLASSES: readonly BounceClass[] = ['spam', 'policy', 'authentication', 'rate', 'filtered']

export interface BounceRule {
  readonly class: BounceClass
  readonly enhanced?: RegExp
  readonly text?: RegExp
  /** The rule does not apply to a reply that quotes only the recipient. */
  readonly unlessOfRecipient?: true
  /** The only stage at which the reply means this. */
  readonly stage?: Stage
}

/** Codes that say nothing more than the reply's own. */
const GENERAL = /^$|^[45]\.[01]\.0$/

/** Sender verification (Postfix, Exim callouts) precedes the recipient check: the address reported missing is our return path. */
const ABOUT_SENDER = /\bsender (address )?(verif|rejected|refused|denied)|\bdomain of sender\b/i
/** Wordings about the sender, unless the reply quotes the recipient. */
const PERHAPS_ABOUT_SENDER =
  /\bverification failed for\b|\b(sender|return[- ]path|mail[- ]?from|envelope[- ]from)( address| domain| is| was| does| could| be| not){0,4} (rejected|refused|denied|verif|unverif|invalid|unknown|not found|not exist|exist|found)|\b(unknown|invalid|unverified|unroutable|non-?existent) (sender|return[- ]path|mail[- ]?from)\b(?!\/)/i

export const BOUNCE_RULES: readonly BounceRule[] = [
  ...PLAINLY_OF_SENDER,
  // Classified as bad-mailbox, these replies would suppress recipients whose mailboxes exist.
  { class: 'policy', text: ABOUT_SENDER },
  { class: 'policy', text: PERHAPS_ABOUT_SENDER, unlessOfRecipient: true },
  { class: 'policy', text: /\bmail from:? \S{1,255} (rejected|refused|denied)\b/i, unlessOfRecipient: true },
  // The server rejected the sender address, even if the text says that something does not exist.
  { class: 'policy', enhanced: /^[45]\.1\.[78]$/ },
  { class: 'policy', text: /\b(helo|ehlo)\b.{0,30}\b(rejected|refused|denied|invalid)\b/i },
  // Wordings of a domain or host, with codes of all kinds.
  {
    class: 'not-accepting',
    text: /\b(host|domain|server) (does|do|will) not accept (any )?(e?-?mail|messages)\b(?! from)|\baccepts no (e?-?mail|messages)\b|\bnull ?mx\b/i,
  },
  // RFC 7504: the code is also that of an overloaded server, which says something else.
  { class: 'not-accepting', enhanced: /^5\.3\.2$/, text: /\bdoes not accept (any )?(e?-?mail|messages)\b(?! from)/i },
  // A DNS that fails for now says nothing about the domain.
  {
    class: 'network',
    text: /\b(host|name|domain) not found,? (please )?try again\b|\btemporary ((failure|error) in name resolution|dns (failure|error))\b|\bservfail\b/i,
  },
  {
    class: 'bad-domain',
    text: /\b(unknown (host|domain)|(host|domain) (is )?(unknown|not found)|domain is not reachable|domain name not found|no such (host|domain))\b/i,
  },
  // Before the wordings of unknown users: a mailbox that is full exists.
  { class: 'mailbox-full', enhanced: /^[45]\.2\.2$/ },
  {
    class: 'mailbox-full',
    text: /(mailbox|quota|inbox|storage).{0,40}(\bfull\b|exceed|over\s?(quota|limit))|over\s?quota|out of storage/i,
  },
  ...FULL,
  // A program of the recipient's server reports a missing user of its own.
  {
    class: 'system',
    text: /\b(could ?n.t|cannot|can.t|unable to) (create|open|write|lock|exec)|\bcommand (died|failed)|\bno space left|\bdisk (is )?full|\b(local|server) configuration error|\binternal (server )?error/i,
  },
  // This wording is unambiguous, so it outranks the enhanced code: Exchange sends it with 5.1.10, others with 5.2.1, 5.7.1 or
  // 5.0.0.
  {
    class: 'bad-mailbox',
    text: /\b(unknown|no such) (user|recipient|mailbox|address)|\b(user|recipient) (is )?(unknown|not found|not exist)|\bno mailbox here/i,
  },
  {
    class: 'bad-mailbox',
    text: /\bno such (local user|person|e?-?mail)\b|\bunknown local[- ]part\b|\bnot an? (valid|known|existing) (user|recipient|mailbox|address)\b|\bno account by that name\b|\b(is|has|have) no account here\b|\bnot have an account\b|\bunroute?able address\b|\bbad destination (mailbox|e?-?mail) address\b|\b(account|mailbox) has been (deleted|removed)\b/i,
  },
  // cPanel's words for what Exim calls an unrouteable address.
  {
    class: 'bad-mailbox',
    text: /\bthe account or domain may not exist, they may be blacklisted\b/i,
  },
  ...UNKNOWN,
  { class: 'network', text: /\bname service error\b/i },
  { class: 'not-accepting', enhanced: /^5\.1\.10$/ },
  { class: 'bad-domain', enhanced: /^([45]\.1\.(2|10)|5\.4\.4)$/ },
  { class: 'rate', enhanced: /^4\.7\.28$/ },
  {
    class: 'rate',
    text: /too many (connections|messages|recipients)|rate limit|frequency limit|throttl|gr[ae]y\s?list|at a rate that|unexpected volume|unusual rate/i,
  },
  { class: 'moved', enhanced: /^5\.1\.6$/ },
  { class: 'moved', text: /\b(has|have|was) moved\b|\bno longer (on|at|with|here)\b|\buser not local.{0,20}try\b/i },
  ...CLOSED,
  { class: 'mailbox-inactive', enhanced: /^[45]\.(2\.1|7\.13)$/ },
  {
    class: 'mailbox-inactive',
    text: /(account|mailbox|user).{0,40}\b(disabled|inactive|suspended|locked|frozen)\b|(account|mailbox) is blocked/i,
  },
  ...FILTERED,
  { class: 'authentication', enhanced: /^[45]\.7\.(20|21|22|23|24|25|26|27|29|30|509|515)$/ },
  {
    class: 'authentication',
    text: /\b(dmarc|dkim|spf|ptr|rdns)\b|reverse (dns|hostname|lookup)|cannot find your (reverse )?hostname|unauthenticated|authentication (information|level)|mismatches client ip/i,
  },
  {
    class: 'spam',
    text: /\bspam|black\s?list|block\s?list|\brbl\b|spamhaus|barracuda|unsolicited|\bube\b|reputation|banned sending|blocked using|\bblocked - see\b|\bOFR[_ ]506\b/i,
  },
  { class: 'policy', text: /\b(virus|malware)\b|\bdenied by policy\b/i },
  ...OF_SENDER,
  { class: 'bad-mailbox', enhanced: /^5\.1\.(1|3)$/ },
  // Microsoft 365: the recipient is not in the directory.
  { class: 'bad-mailbox', enhanced: /^5\.4\.1$/, text: /recipient address rejected/i },
  {
    class: 'bad-mailbox',
    text: /(unknown|invalid|non-?existent).{0,20}(user|recipient|mailbox|address|account)|(user|recipient|mailbox|address|account).{0,30}(unknown|not found|does ?n.t (exist|have an?)|(does )?not exist|no such|unavailable)|not our user/i,
  },
  { class: 'too-large', enhanced: /^[45]\.(3\.4|2\.3)$/ },
  { class: 'too-large', text: /(message|size).{0,30}(too (big|large)|exceed)/i },
  {
    class: 'relay',
    text: /relay(ing)? (access )?(denied|not (allowed|permitted))|\bunable to relay\b|\bdo(es)? not relay\b/i,
  },
  // Without a reason, after the rules for those that have one. At RCPT nothing but the address is known; later, or with a code, it
  // may be a filter's word.
  { class: 'bad-mailbox', enhanced: GENERAL, text: /\brecipient address rejected[.!]?$/i, stage: 'rcpt' },
  { class: 'policy', text: /\brecipient address rejected\b/i },
  ...PERHAPS_OF_SENDER,
  { class: 'expired', enhanced: /^[45]\.4\.7$/ },
  { class: 'expired', text: /\b(message|delivery time) (has )?expired\b|\btoo (long|old) in (the )?queue\b/i },
  { class: 'policy', enhanced: /^[45]\.7\./ },
  { class: 'network', enhanced: /^[45]\.4\./ },
  { class: 'protocol', enhanced: /^[45]\.[56]\./ },
  { class: 'system', enhanced: /^[45]\.3\./ },
]

/** How a reply was said. */
export interface Said {
  readonly parties?: Parties | undefined
  readonly stage?: Stage | undefined
}

/** Classes that describe the recipient's address. */
const ADDRESS_CLASSES: ReadonlySet<BounceClass> = new Set([
  'bad-mailbox',
  'bad-domain',
  'moved',
  'not-accepting',
  'mailbox-inactive',
  'mailbox-full',
])
/** A code within the text: `(#5.1.1)` of qmail, or that of another server, which this one quotes. */
const CODE_WITHIN = /(?:#|\b[45]\d\d[- ]['"]?)([45]\.[0-7]\.\d{1,3})\b/
/** The words of a gateway before the reply that it quotes. */
const OF_GATEWAY = /^(?:5\.1\.0 )?- unknown (?:address )?error /i
/** The codes of an address that does not exist, whenever they are said. */
const NO_SUCH_ADDRESS = /^5\.1\.(1|3|10)$/
/** A statement about the account itself, which no filter makes. Yahoo says it only after the message. */
const NO_SUCH_ACCOUNT = /\bthis user does ?n.t have an? \S{1,255} account\b/i
/** Something else about a mailbox that exists. */
const OTHER_OF_MAILBOX = /^5\.2\.0$/
/** Classes of an address that does not exist. */
const ABSENT: ReadonlySet<BounceClass> = new Set(['bad-mailbox', 'bad-domain', 'moved'])
/** A host or domain, without another reason. */
const ABSENT_DOMAIN = /(?<![\w.@-])([\w.-]{1,255})['">]{0,2} does not exist\b/i
const BEFORE_RCPT: ReadonlySet<Stage | undefined> = new Set<Stage>(['greeting', 'ehlo', 'mail'])
const AFTER_DATA: ReadonlySet<Stage | undefined> = new Set<Stage>(['data', 'dot'])

/**
 * Returns the bounce class of a reply. A reply that quotes our return path but not the recipient concerns the return path,
 * whatever its wording. "Unknown user", said after the message and without the code for it, is a filter's word: of this mail, and not of the mailbox.
 */
export function bounceClass(enhanced: string, reply: string, { parties, stage }: Said = {}): BounceClass {
  const text = reply.replace(OF_GATEWAY, '')
  const quoted = parties ? quotedIn(text.toLowerCase(), parties) : { sender: false, recipient: false }
  const code = GENERAL.test(enhanced) ? (CODE_WITHIN.exec(text)?.[1] ?? enhanced) : enhanced
  const found = byRules(code, text, { stage, ofRecipient: quoted.recipient && !quoted.sender })
  if (found === 'other' && parties) return classAt(stage, absentDomainClass(text, parties) ?? found)
  if (ADDRESS_CLASSES.has(found) && quoted.sender && !quoted.recipient) return 'policy'
  const isFilters =
    OTHER_OF_MAILBOX.test(code) || (AFTER_DATA.has(stage) && !NO_SUCH_ADDRESS.test(code) && !NO_SUCH_ACCOUNT.test(text))
  return found === 'bad-mailbox' && isFilters ? 'filtered' : classAt(stage, found)
}

/** Returns what a class means at a stage: before RCPT a server does not know the recipient, and what it misses is the return path. */
export function classAt(stage: Stage | undefined, found: BounceClass): BounceClass {
  return ABSENT.has(found) && BEFORE_RCPT.has(stage) ? 'policy' : found
}

/** Of a reply that names only a domain which does not exist: J:COM says so of the return path's, others of the recipient's. */
function absentDomainClass(text: string, { sender, recipient }: Parties): BounceClass | undefined {
  const domain = ABSENT_DOMAIN.exec(text)?.[1]?.toLowerCase()
  if (domain === undefined) return undefined
  if (recipient.toLowerCase().endsWith(`@${domain}`)) return 'bad-domain'
  return sender.toLowerCase().endsWith(`@${domain}`) ? 'policy' : undefined
}

function quotedIn(text: string, { sender, recipient }: Parties): Record<keyof Parties, boolean> {
  return {
    sender: sender !== '' && text.includes(sender.toLowerCase()),
    recipient: text.includes(recipient.toLowerCase()),
  }
}

interface About {
  readonly stage: Stage | undefined
  readonly ofRecipient: boolean
}

function byRules(enhanced: string, text: string, { stage, ofRecipient }: About): BounceClass {
  for (const rule of BOUNCE_RULES) {
    if (rule.unlessOfRecipient && ofRecipient) continue
    if (rule.stage && rule.stage !== stage) continue
    if (rule.enhanced && !rule.enhanced.test(enhanced)) continue
    if (rule.text && !rule.text.test(text)) continue
    return rule.class
  }
  return 'other'
}
