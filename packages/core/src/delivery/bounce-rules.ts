/**
 * Why a server said no, told from its reply. Data: the first rule that fits wins; a new wording is one line here and one
 * line of test. Enhanced codes are those of RFC 3463 and its registry.
 */
export type BounceClass =
  | 'bad-mailbox'
  | 'bad-domain'
  | 'mailbox-full'
  | 'mailbox-inactive'
  | 'too-large'
  | 'policy'
  | 'spam'
  | 'authentication'
  | 'rate'
  | 'relay'
  | 'protocol'
  | 'network'
  | 'other'

export interface BounceRule {
  readonly class: BounceClass
  readonly enhanced?: RegExp
  readonly text?: RegExp
}

export const BOUNCE_RULES: readonly BounceRule[] = [
  { class: 'bad-domain', enhanced: /^5\.1\.(2|10)$/ },
  { class: 'mailbox-full', enhanced: /^[45]\.2\.2$/ },
  { class: 'mailbox-full', text: /(mailbox|quota|inbox|storage).{0,40}(full|exceed|over)|over\s?quota/i },
  { class: 'mailbox-inactive', enhanced: /^[45]\.2\.1$/ },
  { class: 'mailbox-inactive', text: /(account|mailbox|user).{0,40}(disabled|inactive|suspended|locked)/i },
  { class: 'authentication', enhanced: /^[45]\.7\.(20|21|22|23|24|25|26|27|29|30)$/ },
  { class: 'authentication', text: /\b(dmarc|dkim|spf)\b/i },
  { class: 'spam', text: /\bspam|black\s?list|block\s?list|\brbl\b|spamhaus|barracuda|unsolicited|reputation/i },
  { class: 'bad-mailbox', enhanced: /^5\.1\.(0|1|3|6)$/ },
  {
    class: 'bad-mailbox',
    text: /(no such|unknown|invalid|non-?existent).{0,20}(user|recipient|mailbox|address|account)|(user|recipient|mailbox|address|account).{0,30}(unknown|not found|does ?n.t exist|does not exist|no such|unavailable)/i,
  },
  { class: 'too-large', enhanced: /^[45]\.(3\.4|2\.3)$/ },
  { class: 'too-large', text: /(message|size).{0,30}(too (big|large)|exceed)/i },
  { class: 'rate', enhanced: /^4\.7\.28$/ },
  { class: 'rate', text: /too many (connections|messages|recipients)|rate limit|throttl|grey\s?list|gray\s?list/i },
  { class: 'relay', text: /relay(ing)? (access )?(denied|not (allowed|permitted))/i },
  { class: 'policy', enhanced: /^[45]\.7\./ },
  { class: 'network', enhanced: /^4\.4\./ },
  { class: 'protocol', enhanced: /^[45]\.5\./ },
]

export function bounceClass(enhanced: string, text: string): BounceClass {
  for (const rule of BOUNCE_RULES) {
    if (rule.enhanced && !rule.enhanced.test(enhanced)) continue
    if (rule.text && !rule.text.test(text)) continue
    return rule.class
  }
  return 'other'
}
