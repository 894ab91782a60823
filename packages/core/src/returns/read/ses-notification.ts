import { MAX_RECIPIENTS } from './delivery-status.ts'
import { ACTIONS } from './return-reading.ts'
import { stageIn } from './smtp-reply.ts'
import type { RecipientStatus } from './verdict.ts'

/** A notification of Amazon SES that was mailed by SNS: JSON in the text. */
export interface SesNotification {
  readonly kind: 'Bounce' | 'Complaint' | 'Delivery'
  readonly statuses: readonly RecipientStatus[]
}

const KINDS = ['Bounce', 'Complaint', 'Delivery'] as const

/** Undefined if the text is not such a notification. */
export function readSesNotification(text: string): SesNotification | undefined {
  if (!text.startsWith('{"')) return undefined
  const end = text.indexOf('\n--\n')
  // Old versions of Sendmail divide long lines in this way.
  const json = parsed((end === -1 ? text : text.slice(0, end)).replaceAll('!\n ', ''))
  const kind = KINDS.find((name) => name === json?.notificationType)
  if (!json || !kind) return undefined
  return {
    kind,
    statuses: kind === 'Bounce' ? bounced(json) : kind === 'Delivery' ? delivered(json) : complained(json),
  }
}

function bounced(json: Json): RecipientStatus[] {
  return listOf(objectOf(json.bounce).bouncedRecipients).map((entry) => {
    const text = textOf(entry.diagnosticCode)
    return {
      recipient: textOf(entry.emailAddress),
      action: ACTIONS.find((action) => action === entry.action) ?? 'failed',
      status: textOf(entry.status),
      text,
      stage: stageIn(text),
    }
  })
}

function delivered(json: Json): RecipientStatus[] {
  const delivery = objectOf(json.delivery)
  const recipients = Array.isArray(delivery.recipients) ? delivery.recipients.slice(0, MAX_RECIPIENTS) : []
  const text = textOf(delivery.smtpResponse)
  return recipients.map((recipient) => ({
    recipient: textOf(recipient),
    action: 'delivered',
    status: '',
    text,
    stage: undefined,
  }))
}

function complained(json: Json): RecipientStatus[] {
  return listOf(objectOf(json.complaint).complainedRecipients).map((entry) => ({
    recipient: textOf(entry.emailAddress),
    action: 'delivered',
    status: '',
    text: '',
    stage: undefined,
  }))
}

/** Fields of a notification and of the objects in it. */
interface Json {
  readonly notificationType?: unknown
  readonly bounce?: unknown
  readonly bouncedRecipients?: unknown
  readonly complaint?: unknown
  readonly complainedRecipients?: unknown
  readonly delivery?: unknown
  readonly recipients?: unknown
  readonly smtpResponse?: unknown
  readonly emailAddress?: unknown
  readonly action?: unknown
  readonly status?: unknown
  readonly diagnosticCode?: unknown
}

function parsed(text: string): Json | undefined {
  try {
    return objectOf(JSON.parse(text))
  } catch {
    return undefined
  }
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? value : {}
}

function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.slice(0, MAX_RECIPIENTS).map(objectOf) : []
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 4096) : ''
}
