import { type Forward, type KeptReturn, NO_EFFECT, type ReturnEffect, type StoredReturn } from '@postrider/core'
import { type Answer, CommandError } from '../../command.ts'
import { table } from '../../table.ts'

const HEADING = [
  'id',
  'received',
  'kind',
  'effect',
  'message',
  'no',
  'class',
  'from',
  'size',
  'kept',
  'forwarded',
] as const

const EFFECTS = {
  bounced: 'a bounce was recorded',
  complained: 'a complaint was recorded',
  unsubscribed: 'the recipient is unsubscribed',
  recorded: 'the report was recorded',
} as const

/** Returns what followed from a report, in words. */
export function effectText({ effect, why }: ReturnEffect): string {
  return effect === 'none' ? `no effect: ${why === null ? '' : NO_EFFECT[why]}` : EFFECTS[effect]
}

export function listAnswer(returns: readonly StoredReturn[], limit: number): Answer {
  const rows = returns.map((one) => {
    const {
      id,
      receivedAt,
      kind,
      effect,
      why,
      messageId,
      recipientNo,
      class: of,
      reporter,
      size,
      isKept,
      forward,
    } = one
    return [
      id,
      receivedAt,
      kind,
      why ?? effect,
      messageId,
      recipientNo,
      of,
      reporter,
      size,
      isKept ? 'yes' : '',
      forward ?? '',
    ]
  })
  const more = returns.length === limit ? [`there may be more; continue with --after ${returns.at(-1)?.id}`] : []
  return { data: returns, text: rows.length > 0 ? [table(HEADING, rows), ...more].join('\n') : 'nothing came back' }
}

export function showAnswer({ content, ...told }: KeptReturn, onlyContent: boolean): Answer {
  if (onlyContent) {
    if (!content)
      throw new CommandError('its content is not kept; only that of letters and of what could not be read is')
    return { data: { ...told, content: content.toString('latin1') }, text: content }
  }
  const { id, receivedAt, kind, messageId, recipientNo, accountId, role, reporter, size } = told
  const about =
    messageId === null ? [] : [`message     ${messageId}, recipient ${recipientNo}, account ${accountId ?? 'unknown'}`]
  const lines = [
    `id          ${id}`,
    `received    ${receivedAt.toISOString()}`,
    `kind        ${kind}${told.class === null ? '' : `, ${told.class}`}`,
    `effect      ${effectText(told)}`,
    ...about,
    `sent to     ${role === null ? 'a return path' : `${role}@`}`,
    ...(told.mailFrom === null ? [] : [`MAIL FROM   <${told.mailFrom}>`]),
    `from        ${reporter === '' ? 'unknown' : reporter} (unverified), ${size} bytes`,
    ...(told.forward === null ? [] : [`forwarded   ${forwardText(told)}`]),
    ...(content ? ['', content.toString()] : []),
  ]
  return { data: { ...told, content: content?.toString('latin1') ?? null }, text: lines.join('\n') }
}

const FORWARDS: Readonly<Record<Forward, string>> = {
  waiting: 'not yet',
  excess: 'no: too many letters in that hour; a summary will count it',
  sent: 'yes',
  summarised: 'no: too many letters in that hour; a summary has counted it',
  own: 'no: this service has sent it',
  automatic: 'no: it is from the null sender, so automatic',
  failed: 'no: the message to the operator could not be accepted for hours',
}

/** Whether a letter was passed on to the operator. */
function forwardText({ forward, forwardAt, forwardMessageId }: StoredReturn): string {
  if (forward === null) return ''
  const message = forwardMessageId === null ? '' : `, message ${forwardMessageId}`
  const at = forward === 'waiting' ? `, tried at ${forwardAt?.toISOString()}` : ''
  return `${FORWARDS[forward]}${at}${message}`
}
