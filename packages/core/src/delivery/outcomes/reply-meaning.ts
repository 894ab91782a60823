import { type BounceClass, bounceClass, type Said } from './bounce-rules.ts'

/**
 * The meanings of refusals for the sender, finer than bounce classes: each name has a sentence and an advice in the dashboard
 * (pages/messages/sentences/meaning-words.ts). The names of classes stand for replies of which no more is known.
 */
export const REPLY_MEANINGS = [
  'bad-mailbox',
  'bad-syntax',
  'bad-domain',
  'moved',
  'not-accepting',
  'mailbox-full',
  'mailbox-inactive',
  'filtered',
  'members-only',
  'too-large',
  'virus',
  'attachment',
  'sender-refused',
  'policy',
  'block-list',
  'listed-link',
  'reputation-domain',
  'reputation-address',
  'spam-content',
  'spam',
  'spf',
  'dkim',
  'dmarc',
  'reverse-name',
  'authentication',
  'greylisted',
  'recipient-rate',
  'too-many-recipients',
  'too-many-connections',
  'rate',
  'relay',
  'loop',
  'unicode-address',
  'not-conformant',
  'protocol',
  'tls-missing',
  'tls-certificate',
  'dns',
  'unreachable',
  'network',
  'expired',
  'storage',
  'system',
  'other',
] as const
export type ReplyMeaning = (typeof REPLY_MEANINGS)[number]

/** A refusal as it is stored with an attempt or an event. */
export interface Refusal {
  /** Null for a failure that this service reports. */
  readonly code: number | null
  readonly enhanced: string | null
  readonly reply: string | null
  /** The class, if it is stored; by default that of the reply. */
  readonly class?: string | undefined
}

interface MeaningRule {
  readonly meaning: ReplyMeaning
  /** Absent: any class. */
  readonly classes?: readonly BounceClass[]
  readonly enhanced?: RegExp
  readonly text?: RegExp
  /** Only failures that this service reports. */
  readonly own?: true
}

/** In order; the first that matches wins, and without one the class is the meaning. */
const MEANING_RULES: readonly MeaningRule[] = [
  // RFC 7672 and RFC 8461 demands that this service could not meet.
  { meaning: 'tls-certificate', own: true, enhanced: /^[45]\.7\.5$/ },
  { meaning: 'tls-missing', own: true, enhanced: /^[45]\.7\.4$/ },
  { meaning: 'dns', own: true, enhanced: /^4\.4\.3$/ },
  { meaning: 'unreachable', own: true, enhanced: /^4\.4\.[12]$/ },
  { meaning: 'loop', enhanced: /^[45]\.4\.6$/ },
  { meaning: 'loop', text: /\btoo many hops\b|\bmail loop\b|\bloops back\b/i },
  { meaning: 'unicode-address', enhanced: /^[45]\.6\.7$/ },
  { meaning: 'unicode-address', text: /\bsmtputf8\b/i },
  { meaning: 'bad-syntax', classes: ['bad-mailbox'], enhanced: /^[45]\.1\.3$/ },
  { meaning: 'bad-syntax', classes: ['bad-mailbox'], text: /\bbad recipient address syntax\b|\bsyntax error in\b/i },
  // Exchange Online, and lists that only their members may write to.
  { meaning: 'members-only', enhanced: /^5\.7\.(12[0-9]|13[0-9])$/ },
  { meaning: 'members-only', text: /\bnotauthorized\b|\brestricted recipient\b|\bmembers? only\b|\bnon-members?\b/i },
  { meaning: 'virus', text: /\bvirus\b|\bmalware\b|\btrojan\b/i },
  {
    meaning: 'attachment',
    classes: ['policy', 'spam', 'filtered', 'protocol', 'other'],
    text: /\battachments?\b|\bexecutable\b|\bpotential security issue\b|\bfile ?type\b/i,
  },
  { meaning: 'sender-refused', classes: ['policy'], enhanced: /^[45]\.1\.[78]$/ },
  {
    meaning: 'sender-refused',
    classes: ['policy'],
    text: /\bsender (address )?(verif|rejected|refused|denied)|\bdomain of sender\b|\bverification failed\b|\breturn[- ]path\b/i,
  },
  {
    meaning: 'listed-link',
    classes: ['spam', 'policy'],
    text: /\buribl\b|\bsurbl\b|\bdbl\.spamhaus\b|\burls?\b|\blinks?\b/i,
  },
  {
    meaning: 'block-list',
    classes: ['spam', 'policy', 'rate'],
    text: /\bspamhaus\b|\bspamcop\b|\bbarracuda|\bsorbs\b|\brbl\b|\bdnsbls?\b|\b(black|block|deny)[- ]?list|\blisted\b/i,
  },
  { meaning: 'too-many-connections', classes: ['rate'], text: /\b(connections|sessions)\b/i },
  {
    meaning: 'reputation-domain',
    classes: ['spam', 'policy', 'rate'],
    text: /\bdomain('s)? reputation\b|\breputation of (the|your) domain\b/i,
  },
  { meaning: 'reputation-domain', classes: ['spam', 'policy', 'rate'], text: /\breputation of the sending domain\b/i },
  {
    meaning: 'reputation-address',
    classes: ['spam', 'policy', 'rate'],
    text: /\breputation\b|\byour (ip|host|network|server)\b|\bip address\b/i,
  },
  { meaning: 'spam-content', classes: ['spam'], text: /\bcontent\b|\bmessage\b|\bphish|\bsubject\b|\bscore\b/i },
  { meaning: 'dmarc', classes: ['authentication'], text: /\bdmarc\b/i },
  { meaning: 'dmarc', classes: ['authentication'], enhanced: /^[45]\.7\.(509|515)$/ },
  { meaning: 'reverse-name', classes: ['authentication'], enhanced: /^[45]\.7\.25$/ },
  {
    meaning: 'reverse-name',
    classes: ['authentication'],
    text: /\bptr\b|\brdns\b|\breverse (dns|hostname|lookup)\b|\bhost\s?name\b/i,
  },
  { meaning: 'dkim', classes: ['authentication'], enhanced: /^[45]\.7\.(20|21|22)$/ },
  { meaning: 'spf', classes: ['authentication'], enhanced: /^[45]\.7\.(23|24)$/ },
  // A reply that names both demands one of them.
  { meaning: 'spf', classes: ['authentication'], text: /\bspf\b/i },
  { meaning: 'dkim', classes: ['authentication'], text: /\bdkim\b/i },
  { meaning: 'greylisted', text: /\bgr[ae]y\s?list/i },
  { meaning: 'recipient-rate', classes: ['rate'], enhanced: /^4\.2\.1$/ },
  { meaning: 'recipient-rate', classes: ['rate'], text: /\breceiving (mail|email)\b|\bmailbox\b/i },
  { meaning: 'too-many-recipients', classes: ['rate', 'policy'], text: /\btoo many recipients\b/i },
  { meaning: 'storage', classes: ['system', 'network', 'other'], enhanced: /^[45]\.3\.1$/ },
  {
    meaning: 'storage',
    classes: ['system', 'other'],
    text: /\binsufficient (system )?storage\b|\bno space left\b|\bdisk (is )?full\b/i,
  },
  {
    meaning: 'not-conformant',
    classes: ['policy', 'protocol', 'spam', 'other'],
    text: /\brfc ?-?(2822|5321|5322|822)\b|\bbare (lf|cr|newline)\b|\bline (is )?too long\b|\bduplicate header/i,
  },
]

/** Returns what a refusal means; undefined for a reply that accepts. */
export function replyMeaning(
  { code, enhanced, reply, class: stored }: Refusal,
  said: Said = {},
): ReplyMeaning | undefined {
  if (code !== null && code > 0 && code < 400) return undefined
  const [number, text] = [enhanced ?? '', reply ?? '']
  const known = stored ?? bounceClass(number, text, said)
  const rule = MEANING_RULES.find(
    (one) =>
      (!one.own || code === null || code === 0) &&
      (one.classes?.includes(known as BounceClass) ?? true) &&
      (one.enhanced?.test(number) ?? true) &&
      (one.text?.test(text) ?? true),
  )
  return rule?.meaning ?? REPLY_MEANINGS.find((name) => name === known) ?? 'other'
}
