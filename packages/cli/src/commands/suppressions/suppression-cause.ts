import type { SuppressionCause, SuppressionRule } from '@postrider/core'

const RULES: Readonly<Record<SuppressionRule, string>> = {
  'hard-bounce': 'hard bounce',
  'soft-bounces': 'soft bounces on 3 days within 30',
  complaint: 'complaint',
  'opt-out': 'opt-out',
  unsubscribe: 'unsubscribe',
}

/** The rule that made an entry, for example `hard bounce, bad-mailbox`. Empty if it was added by hand. */
export function ruleText(cause: SuppressionCause | null): string {
  if (!cause) return ''
  return [RULES[cause.rule], cause.class].filter((text) => text !== null).join(', ')
}

/** The delivery and the report of an entry. Empty if it was added by hand. */
export function sourceText(cause: SuppressionCause | null): string {
  if (!cause) return ''
  const report = cause.returnId === null ? '' : `, return ${cause.returnId}`
  return `message ${cause.messageId}, recipient ${cause.recipientNo}${report}`
}
