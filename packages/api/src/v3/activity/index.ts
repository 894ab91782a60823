import {
  type DeliveryDetails,
  type EventDetail,
  type EventDetails,
  type ListedDelivery,
  type MessageDetails,
  shortMessageId,
} from '@postrider/core'
import Type from 'typebox'
import { type Call, type Operation, operation } from '../operation.ts'
import { refuse } from '../refusal.ts'
import { lastEventTime, questionOf, readMsgId, STATUSES, writeMsgId } from './to-search.ts'

const DEFAULT_LIMIT = 10
const MAX_LIMIT = 1000
/** Pages of the search that are read for one answer. Each is bounded. */
const MAX_PAGES = 4
const common = { scope: 'events', section: '7.1', right: 'email_activity.read', method: 'GET', status: 200 } as const

/** Email Activity, over the search for messages. */
export const ACTIVITY: readonly Operation[] = [
  operation({
    name: 'searchMessages',
    summary: 'List the deliveries that a query in the language of Email Activity finds, newest first',
    cli: 'message list',
    ...common,
    path: '/messages',
    query: Type.Object({
      query: Type.Optional(Type.String()),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LIMIT })),
    }),
    wrong: { limit: `limit must be a whole number from 1 to ${MAX_LIMIT}` },
    act: async ({ query: { query = '', limit = DEFAULT_LIMIT } }, call) => {
      const { found, searchedTo } = await find(query, limit, call)
      const acts = await call.core.messages.countActs(found, call.reads)
      return {
        messages: found.map((delivery, at) => ({
          ...shown(delivery),
          opens_count: acts[at]?.opens ?? 0,
          clicks_count: acts[at]?.clicks ?? 0,
          last_event_time: timeText(lastEventTime(delivery)),
        })),
        // An addition: the search was ended to answer soon, and everything since this time was searched.
        ...(searchedTo ? { searched_to: timeText(searchedTo) } : {}),
      }
    },
  }),
  operation({
    name: 'viewMessage',
    summary: 'Show a delivery with its events',
    cli: 'message show',
    ...common,
    path: '/messages/:msg_id',
    params: Type.Object({ msg_id: Type.String({ maxLength: 100 }) }),
    act: async ({ params: { msg_id: id } }, { core, principal }) => {
      const { messageId = '', recipientNo = 0 } = readMsgId(id)
      const page = { fromRecipient: recipientNo }
      const message = await core.messages.show(messageId, { accountId: principal.account.id, page })
      const [delivery] = message?.deliveries ?? []
      if (!message || !delivery || (id.includes('.') && delivery.recipientNo !== recipientNo)) {
        throw refuse(404, 'not found', 'message_id')
      }
      return details(message, delivery)
    },
  }),
]

/** Reads pages of the search until there are enough. */
async function find(query: string, limit: number, { core, principal, reads }: Call) {
  const { search, holds } = query.trim() === '' ? { search: {}, holds: () => true } : questionOf(query)
  const found: ListedDelivery[] = []
  let after: string | undefined
  let searchedTo: Date | undefined
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await core.messages.list({ accountId: principal.account.id, search, limit, after }, reads)
    found.push(...page.deliveries.filter(holds))
    const isWhole = page.next === null || found.length >= limit
    searchedTo = isWhole ? undefined : (page.searchedTo ?? page.deliveries.at(-1)?.acceptedAt)
    if (page.next === null || isWhole || page.partial) break
    after = page.next
  }
  return { found: found.slice(0, limit), searchedTo }
}

/** ISO 8601 without fractions, as the provider writes it. */
function timeText(time: Date): string {
  return time.toISOString().replace(/\.\d+/, '')
}

function shown({ messageId, recipientNo, from, subject, recipient, state }: ListedDelivery) {
  return {
    from_email: from,
    msg_id: writeMsgId(shortMessageId(messageId), recipientNo),
    subject,
    to_email: recipient,
    status: statusOf(state),
  }
}

function statusOf(state: string): string {
  return Object.entries(STATUSES).find(([, states]) => states.some((one) => one === state))?.[0] ?? 'processed'
}

interface Settings {
  readonly group?: number
  readonly template?: { readonly id?: string }
}

function details(message: MessageDetails, delivery: DeliveryDetails) {
  const { recipientNo, state, recipient, metadata } = delivery
  const settings = message.settings as Settings
  return {
    from_email: message.from,
    msg_id: writeMsgId(shortMessageId(message.id), recipientNo),
    subject: message.subject,
    to_email: recipient,
    status: statusOf(state),
    template_id: settings.template?.id ?? '',
    ...(settings.group === undefined ? {} : { asm_group_id: settings.group }),
    teammate: '',
    api_key_id: message.keyId === null ? '' : String(message.keyId),
    events: message.events
      .filter((event) => event.recipientNo === recipientNo)
      .flatMap((event) => eventOf(event) ?? []),
    originating_ip: message.clientAddress ?? '',
    categories: [...message.tags],
    unique_args: JSON.stringify(metadata ?? {}),
    outbound_ip: '',
    outbound_ip_type: '',
  }
}

const NAMES: Readonly<Record<string, string>> = {
  processed: 'processed',
  sent: 'delivered',
  deferred: 'deferred',
  bounced: 'bounced',
  expired: 'bounced',
  dropped: 'dropped',
  invalid: 'dropped',
  opened: 'opened',
  clicked: 'clicked',
  complained: 'spam_report',
  unsubscribed: 'unsubscribe',
  resubscribed: 'group_resubscribe',
}

function eventOf({ type, occurredAt, detail }: EventDetails) {
  const name = NAMES[type]
  if (name === undefined) return undefined
  const { attempt, host, reply, reason, url, userAgent, group, code } = (detail ?? {}) as EventDetail
  const isReply = code !== undefined || reply !== undefined
  return {
    event_name: type === 'unsubscribed' && group !== undefined ? 'group_unsubscribe' : name,
    processed: timeText(occurredAt),
    ...(reason === undefined ? {} : { reason }),
    ...(attempt === undefined ? {} : { attempt_num: attempt }),
    ...(host === undefined ? {} : { mx_server: host }),
    ...(isReply ? { server_response: [code, reply].filter((one) => one !== undefined).join(' ') } : {}),
    ...(name === 'bounced' ? { bounce_type: type === 'bounced' ? 'hard' : 'soft' } : {}),
    ...(url === undefined ? {} : { url }),
    ...(userAgent === undefined ? {} : { http_user_agent: userAgent }),
  }
}
