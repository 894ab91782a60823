/**
 * The reason why a server rejected mail, derived from its reply. The first matching rule wins. A new wording needs one line
 * here and one line in the test. Enhanced codes are those of RFC 3463 and its IANA registry.
 */
export const BOUNCE_CLASSES = [
  ...(['bad-mailbox', 'bad-domain', 'mailbox-full', 'mailbox-inactive', 'too-large', 'policy', 'spam'] as const),
  ...(['authentication', 'rate', 'relay', 'protocol', 'network', 'other'] as const),
] as const
export type BounceClass = (typeof BOUNCE_CLASSES)[number]

export interface BounceRule {
  readonly class: BounceClass
  readonly enhanced?: RegExp
  readonly text?: RegExp
  /** The rule does not apply to a reply that quotes only the recipient. */
  readonly unlessOfRecipient?: true
}

/** Sender verification (Postfix, Exim callouts) precedes the recipient check: the address reported missing is our return path. */
const ABOUT_SENDER = /\bsender (address )?(verif|rejected|refused|denied)/i
/** Wordings about the sender, unless the reply quotes the recipient. */
const PERHAPS_ABOUT_SENDER =
  /\bverification failed for\b|\b(sender|return[- ]path|mail[- ]?from|envelope[- ]from)( address| domain| is| was| does| could| be| not){0,4} (rejected|refused|denied|verif|unverif|invalid|unknown|not found|not exist|exist|found)|\b(unknown|invalid|unverified|unroutable|non-?existent) (sender|return[- ]path|mail[- ]?from)\b(?!\/)/i

export const BOUNCE_RULES: readonly BounceRule[] = [
  // Classified as bad-mailbox, these replies would suppress recipients whose mailboxes exist.
  { class: 'policy', text: ABOUT_SENDER },
  { class: 'policy', text: PERHAPS_ABOUT_SENDER, unlessOfRecipient: true },
  // This wording is unambiguous, so it outranks the enhanced code: Exchange sends it with 5.1.10, others with 5.2.1, 5.7.1 or
  // 5.0.0.
  {
    class: 'bad-mailbox',
    text: /\b(unknown|no such) (user|recipient|mailbox|address)|\b(user|recipient) (is )?(unknown|not found|not exist)/i,
  },
  { class: 'bad-domain', enhanced: /^[45]\.1\.(2|10)$/ },
  // The server rejected the sender address, even if the text says that something does not exist.
  { class: 'policy', enhanced: /^[45]\.1\.[78]$/ },
  { class: 'mailbox-full', enhanced: /^[45]\.2\.2$/ },
  {
    class: 'mailbox-full',
    text: /(mailbox|quota|inbox|storage).{0,40}(\bfull\b|exceed|over\s?(quota|limit))|over\s?quota|out of storage/i,
  },
  { class: 'rate', enhanced: /^4\.7\.28$/ },
  {
    class: 'rate',
    text: /too many (connections|messages|recipients)|rate limit|frequency limit|throttl|gr[ae]y\s?list|at a rate that|unexpected volume|unusual rate/i,
  },
  { class: 'mailbox-inactive', enhanced: /^[45]\.(2\.1|7\.13)$/ },
  {
    class: 'mailbox-inactive',
    text: /(account|mailbox|user).{0,40}\b(disabled|inactive|suspended|locked|frozen)\b|(account|mailbox) is blocked/i,
  },
  { class: 'authentication', enhanced: /^[45]\.7\.(20|21|22|23|24|25|26|27|29|30|509|515)$/ },
  {
    class: 'authentication',
    text: /\b(dmarc|dkim|spf|ptr)\b|reverse dns|unauthenticated|authentication (information|level)|mismatches client ip/i,
  },
  {
    class: 'spam',
    text: /\bspam|black\s?list|block\s?list|\brbl\b|spamhaus|barracuda|unsolicited|\bube\b|reputation|banned sending|blocked using/i,
  },
  { class: 'bad-mailbox', enhanced: /^5\.1\.(1|3|6)$/ },
  // Microsoft 365: the recipient is not in the directory.
  { class: 'bad-mailbox', enhanced: /^5\.4\.1$/, text: /recipient address rejected/i },
  {
    class: 'bad-mailbox',
    text: /(unknown|invalid|non-?existent).{0,20}(user|recipient|mailbox|address|account)|(user|recipient|mailbox|address|account).{0,30}(unknown|not found|does ?n.t (exist|have an?)|(does )?not exist|no such|unavailable)|not our user/i,
  },
  { class: 'too-large', enhanced: /^[45]\.(3\.4|2\.3)$/ },
  { class: 'too-large', text: /(message|size).{0,30}(too (big|large)|exceed)/i },
  { class: 'relay', text: /relay(ing)? (access )?(denied|not (allowed|permitted))/i },
  { class: 'policy', enhanced: /^[45]\.7\./ },
  { class: 'network', enhanced: /^[45]\.4\./ },
  { class: 'protocol', enhanced: /^[45]\.[56]\./ },
]

/** The envelope addresses of the rejected transaction. */
export interface Parties {
  /** The return path; empty for the null sender. */
  readonly sender: string
  readonly recipient: string
}

/** Classes that describe the recipient's address. */
const ADDRESS_CLASSES: ReadonlySet<BounceClass> = new Set([
  'bad-mailbox',
  'bad-domain',
  'mailbox-inactive',
  'mailbox-full',
])

/**
 * Returns the bounce class of a reply. A reply that quotes our return path but not the recipient concerns the return path,
 * whatever its wording.
 */
export function bounceClass(enhanced: string, text: string, parties?: Parties): BounceClass {
  const quoted = parties ? quotedIn(text.toLowerCase(), parties) : { sender: false, recipient: false }
  const found = byRules(enhanced, text, quoted.recipient && !quoted.sender)
  return ADDRESS_CLASSES.has(found) && quoted.sender && !quoted.recipient ? 'policy' : found
}

function quotedIn(text: string, { sender, recipient }: Parties): Record<keyof Parties, boolean> {
  return {
    sender: sender !== '' && text.includes(sender.toLowerCase()),
    recipient: text.includes(recipient.toLowerCase()),
  }
}

function byRules(enhanced: string, text: string, aboutRecipient: boolean): BounceClass {
  for (const rule of BOUNCE_RULES) {
    if (rule.unlessOfRecipient && aboutRecipient) continue
    if (rule.enhanced && !rule.enhanced.test(enhanced)) continue
    if (rule.text && !rule.text.test(text)) continue
    return rule.class
  }
  return 'other'
}
