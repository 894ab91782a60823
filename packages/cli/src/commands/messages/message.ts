import {
  type Core,
  type MessageDetails,
  partsOfPlace,
  type StoredReturn,
  smartHostOf,
  tlsOriginText,
} from '@postrider/core'
import { type Answer, type Command, CommandError } from '../../command.ts'
import { table } from '../../table.ts'
import { coreCommand } from '../core-command.ts'
import { detailText } from '../detail-text.ts'
import { effectText } from '../reporting/return-answers.ts'
import { ruleText } from '../suppressions/suppression-cause.ts'
import { messageContentCommands } from './message-content.ts'
import { messageListCommands } from './message-list.ts'
import { requireMessage } from './message-not-found.ts'
import { messageQueueCommands } from './message-queue.ts'
import { messageSendCommands } from './message-send.ts'
import { messageSubmitCommands } from './message-submit.ts'
import { messageWhyCommands } from './message-why.ts'
import { nextAttemptText } from './next-attempt-text.ts'
import { stateText } from './state-text.ts'

/** Reports on a message that are shown. At most a few are stored for a delivery. */
const MAX_RETURNS = 1000

/** Recipients whose own data is shown. */
const MAX_OWN = 20

interface Shown extends MessageDetails {
  readonly returns: readonly StoredReturn[]
}

export const messageCommands: readonly Command[] = [
  ...messageListCommands,
  coreCommand({
    name: 'message show',
    usage: 'ID',
    hasTextId: true,
    summary: 'Show a message in time order: its deliveries, attempts, events and reports',
    run: async (core, { ID: id }) => {
      const details = await requireMessage(core, id)
      const returns = await core.returns.list({ messageId: details.id, limit: MAX_RETURNS })
      return { data: { ...details, returns }, text: textOf({ ...details, returns }) }
    },
  }),
  ...messageContentCommands,
  ...messageWhyCommands,
  ...messageSendCommands,
  ...messageSubmitCommands,
  ...messageQueueCommands,
  coreCommand({
    name: 'message aside',
    usage: '',
    summary: 'List the deliveries that are set aside because workers died during their attempts',
    run: async (core) => {
      const aside = await core.deliveries.setAside()
      const rows = aside.map((one) => [one.messageId, one.recipientNo, one.accountId, one.attempt, one.reason])
      const text = table(['message', 'no', 'account', 'attempts', 'reason'], rows)
      return { data: aside, text: rows.length > 0 ? text : 'no deliveries are set aside' }
    },
  }),
  coreCommand({
    name: 'message release',
    usage: 'ID',
    hasTextId: true,
    summary: 'Retry the set-aside deliveries of a message, immediately and then for three days',
    run: (core, given) => endSetAside(core, given.ID, 'released'),
  }),
  coreCommand({
    name: 'message fail',
    destroys: true,
    usage: 'ID',
    hasTextId: true,
    summary: 'Drop the set-aside deliveries of a message',
    look: (core, { ID: id }) => requireMessage(core, id),
    run: (core, given) => endSetAside(core, given.ID, 'failed'),
  }),
]

async function endSetAside(core: Core, messageId: string, done: 'released' | 'failed'): Promise<Answer> {
  const { id } = await requireMessage(core, messageId)
  const count = await core.deliveries[done === 'released' ? 'releaseSetAside' : 'failSetAside'](id)
  if (count === 0) throw new CommandError(`no delivery of message ${id} is set aside`)
  return {
    data: { id, [done]: count },
    text: `${done} ${count} ${count === 1 ? 'delivery' : 'deliveries'} of message ${id}`,
  }
}

function textOf(details: Shown): string {
  const { id, door, acceptedAt, from, subject, size, corrected, notifications, deliveries } = details
  const states = deliveries.map((one) => [
    one.recipientNo,
    one.kind,
    one.recipient,
    isAside(one) ? 'set aside' : stateText(one),
    one.attempt,
    isAside(one) ? '' : nextAttemptText(one),
    ...(notifications ? [notifyText(one)] : []),
  ])
  return [
    `message ${id} via ${door}, accepted ${acceptedAt.toISOString()}`,
    `from ${from}, ${size} bytes, subject: ${subject}`,
    ...ownText(details),
    ...(corrected === null ? [] : [`corrected when it was accepted: ${corrected}`]),
    ...(notifications ? [notificationsText(notifications)] : []),
    '',
    table(['no', 'kind', 'recipient', 'state', 'attempts', 'next', ...(notifications ? ['notify'] : [])], states),
    ...aside(deliveries),
    '',
    table(['time', 'no', 'event', 'detail'], timeline(details)),
  ].join('\n')
}

/** Values that the sender gave besides the mail. */
function ownText({ tags, scheduledAt, keepsContent, isBodyStored, deliveries }: MessageDetails): string[] {
  const own = deliveries.flatMap(({ recipientNo, reference, metadata }) => {
    const values = Object.entries({ ...(reference === null ? {} : { reference }), ...metadata })
    return values.length === 0 ? [] : [`own data of ${recipientNo}: ${values.map((pair) => pair.join('=')).join(', ')}`]
  })
  const kept = isBodyStored ? 'its content is removed after the last outcome' : 'its content was not kept'
  return [
    ...(tags.length === 0 ? [] : [`tags: ${tags.join(', ')}`]),
    ...(scheduledAt === null ? [] : [`scheduled for ${scheduledAt.toISOString()}`]),
    ...(keepsContent ? [] : [kept]),
    ...own.slice(0, MAX_OWN),
    ...(own.length > MAX_OWN ? [`and of ${own.length - MAX_OWN} more; --json has all`] : []),
  ]
}

function notificationsText({ to, full, envelopeId }: NonNullable<MessageDetails['notifications']>): string {
  const returned = full ? ', with the whole message of a failure (RET=FULL)' : ''
  return `notifications by mail to ${to}${returned}${envelopeId === undefined ? '' : `, ENVID ${envelopeId}`}`
}

/** NOTIFY, and ORCPT if it is another address. */
function notifyText({ notify, originalRecipient }: MessageDetails['deliveries'][number]): string {
  const words = notify === null || notify.length === 0 ? 'never' : notify.join(', ')
  return originalRecipient === null ? words : `${words} (ORCPT ${originalRecipient})`
}

/** Whether a delivery is set aside: it is in the queue with a reason not to try it. */
function isAside({ state, reason }: Pick<MessageDetails['deliveries'][number], 'state' | 'reason'>): boolean {
  return reason !== null && (state === 'deferred' || state === 'queued')
}

function aside(deliveries: MessageDetails['deliveries']): string[] {
  const set = deliveries.filter(isAside)
  if (set.length === 0) return []
  const why = set.map(({ recipientNo, reason }) => `delivery ${recipientNo} is set aside: ${reason}`)
  return ['', ...why, '"postrider message release ID" retries it, "postrider message fail ID" drops it']
}

/** The source address of an attempt, or the smart host, if it has one. */
function from(destination: string | null): string {
  const { source } = partsOfPlace(destination ?? '')
  const smartHost = smartHostOf(destination ?? '')
  return smartHost === undefined ? (source === undefined ? '' : `from ${source}`) : `via ${smartHost}`
}

type Attempt = MessageDetails['deliveries'][number]['attempts'][number]

/** The TLS of an attempt, and what was demanded of it. */
function tlsText({
  tls,
  tlsPolicy,
  tlsOrigin,
  tlsVerified,
}: Pick<Attempt, 'tls' | 'tlsPolicy' | 'tlsOrigin' | 'tlsVerified'>): string {
  const had = tls === null ? '' : `${tls}${tlsVerified ? ' verified' : ''}`
  if (tlsPolicy === null) return had
  const by = tlsOrigin === null ? '' : `, demanded by ${tlsOriginText(tlsOrigin)}`
  return `${had || 'no TLS'} (${tlsPolicy}${by})`
}

/** Attempts, events, reports and suppressions of all deliveries in time order. */
function timeline({ deliveries, events, returns, suppressions }: Shown): unknown[][] {
  const attempts = deliveries
    .flatMap((delivery) => delivery.attempts)
    .map(
      ({
        startedAt,
        recipientNo,
        attempt,
        outcome,
        indeterminate,
        host,
        place,
        code,
        enhanced,
        reply,
        milliseconds,
        tls,
        tlsPolicy,
        tlsOrigin,
        tlsVerified,
      }) => ({
        at: startedAt,
        row: [
          recipientNo,
          `attempt ${attempt}: ${outcome}${indeterminate ? ' (indeterminate)' : ''}`,
          [
            host,
            from(place),
            tlsText({ tls, tlsPolicy, tlsOrigin, tlsVerified }),
            code,
            enhanced,
            reply,
            `${milliseconds} ms`,
          ]
            .filter(Boolean)
            .join(' '),
        ],
      }),
    )
  const happened = events.map(({ occurredAt, recipientNo, type, detail }) => ({
    at: occurredAt,
    row: [recipientNo ?? '', type, detailText(detail)],
  }))
  const cameBack = returns.map((one) => ({
    at: one.receivedAt,
    row: [one.recipientNo ?? '', `return: ${one.kind}`, `${one.id} ${effectText(one)}`],
  }))
  const suppressed = suppressions.map(({ since, reason, group, cause }) => ({
    at: since,
    row: [cause?.recipientNo, `suppressed: ${reason}${group > 0 ? `, group ${group}` : ''}`, ruleText(cause)],
  }))
  return [...attempts, ...happened, ...cameBack, ...suppressed]
    .sort((a, b) => a.at.getTime() - b.at.getTime())
    .map(({ at, row }) => [at, ...row])
}
