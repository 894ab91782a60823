import {
  addSubjectBeginning,
  addToSearch,
  type Core,
  invalidParameter,
  MAX_EXPLAINED,
  type MessageDetails,
  type MessageSearch,
  parseSearch,
  SEARCH_KEYS,
  type SearchClock,
  ServiceError,
} from '@postrider/core'
import Type, { type Static } from 'typebox'
import { type Call, type Operation, operation } from '../operation.ts'
import { Count, given, pageOf, parseWhole } from '../shapes.ts'
import { DetailedMessage, detailedMessage, ListedRow, listedRow, MessageId } from './message-shapes.ts'

/** An empty parameter counts as omitted. */
const Text = (description: string) =>
  Type.Optional(Type.Union([Type.String(), Type.Number(), Type.Null()], { description }))

const MAX_ROWS = 100

const Question = Type.Object({
  search: Text(
    'words of the recipient, the subject, the tags and your own id, all of which must be there, in any case and without accents; a word finds those ' +
      'that begin with it, "words in quotes" only themselves, and -word excludes. Or a message id, TRANSID or Message-ID. And to: from: state: ' +
      'subject: tag: ref: id: domain: door: before: after: has:attachment',
  ),
  to: Text('the recipient, @domain, or a part of address or name'),
  from: Text('the sender, @domain, or words of the address'),
  state: Text('one or several states of a delivery, comma-separated; or waiting, failed, opened, clicked, complained'),
  subject: Text('words of the subject, the last of which may be the beginning of one'),
  subject_prefix: Text('the beginning of the subject, in any case'),
  tag: Text('words of a tag'),
  ref: Text('words of your own id (`xapiheader`)'),
  id: Text('the id returned by sendEmail, a TRANSID, or a Message-ID'),
  domain: Text("the domain of the sender's address"),
  door: Text('how it was submitted: v2, v3 or smtp'),
  before: Text(
    "accepted before this day or time, ISO 8601; without a zone in the account's. Or 2h, 3d, 1w ago, today, yesterday",
  ),
  after: Text('accepted on this day or at this time, or later; as before'),
  has: Text('attachment: only messages with attachments'),
  limit: Count(`at most ${MAX_ROWS}; default 50`),
  cursor: Text('`next` of the previous response, with otherwise identical parameters'),
})

const example: Static<typeof ListedRow> = {
  messageId: '019b8d6a3c80700080000000000000a1',
  door: 'v2',
  fromaddress: 'desk@ship.example',
  subject: 'Berth 4',
  tags: ['berth', 'confirm'],
  size: 1834,
  hasAttachment: false,
  keepContent: true,
  acceptedAt: '2026-01-05T10:11:12.000Z',
  trid: 17676078720000004,
  recipientNo: 0,
  recipient: 'lena@harbor.example',
  kind: 'to',
  xapiheader: 'order-9001',
  state: 'deferred',
  reason: null,
  bouncedAt: null,
  bounce: null,
  attempts: 1,
  nextAt: '2026-01-05T10:16:14.000Z',
  finishedAt: null,
  reply: '451 4.7.1 greylisted',
}

const ENVELOPE = {
  beside: Type.Object({
    next: Type.Union([Type.String(), Type.Null()], { description: 'cursor of the next page; null on the last page' }),
    partial: Type.Boolean({
      description:
        'whether the page has less than `limit` rows because the search was stopped to answer soon; `next` continues it',
    }),
    searchedTo: Type.Union([Type.String(), Type.Null()], {
      description: 'ISO 8601, UTC: of a partial page, the time down to which everything was searched',
    }),
    searchedFrom: Type.Union([Type.String(), Type.Null()], {
      description:
        'ISO 8601, UTC: how far back a search goes, to the beginning that it asks for or to the oldest message that is stored; null without mail',
    }),
  }),
  example: {
    next: `${example.messageId}.0`,
    partial: false,
    searchedTo: null,
    searchedFrom: '2025-10-06T08:00:00.000Z',
  },
} as const

/** One message and one of its deliveries at a time (contract section 12.4). */
export const MESSAGES: readonly Operation[] = [
  operation({
    name: 'listMessages',
    summary: 'List or search the deliveries of messages, newest first',
    cli: 'message list',
    group: 'Message',
    scope: 'events',
    routes: [['/messages', 'GET', 'POST']],
    input: Question,
    answer: Type.Array(ListedRow),
    envelope: ENVELOPE,
    errors: [],
    example: { input: { search: 'state:deferred to:@harbor.example', limit: 50 }, data: [example] },
    async act(input, { core, principal }) {
      const page = await core.messages.list({
        accountId: principal.account.id,
        search: searchOf(input, await clockOf(input, core, principal.account.id)),
        limit: pageOf({ limit: input.limit }, { byDefault: 50, most: MAX_ROWS }).limit,
        after: cursorOf(input.cursor),
      })
      const { deliveries, next, partial, searchedTo, searchedFrom } = page
      const beside = {
        next,
        partial,
        searchedTo: searchedTo?.toISOString() ?? null,
        searchedFrom: searchedFrom?.toISOString() ?? null,
      }
      return { data: deliveries.map(listedRow), beside }
    },
  }),
  operation({
    name: 'showMessage',
    summary: `Show a message with its deliveries, ${MAX_EXPLAINED} at a time: what each waits for, its attempts and events`,
    cli: 'message show',
    group: 'Message',
    scope: 'events',
    routes: [['/messages/:messageId', 'GET', 'POST']],
    input: Type.Object({
      messageId: MessageId,
      from_recipient: Count('number of the first delivery; default 0'),
    }),
    answer: DetailedMessage,
    errors: ['messageNotFound'],
    example: { input: { messageId: example.messageId }, data: shownExample() },
    async act({ messageId, from_recipient }, call) {
      const fromRecipient = Math.min(parseWhole(from_recipient, 'from_recipient') ?? 0, LAST_RECIPIENT)
      const details = await requireMessage(messageId, call, { fromRecipient })
      return { data: await detailed(call.core, details) }
    },
  }),
]

/** Above the number of any recipient. */
const LAST_RECIPIENT = 1_000_000
/** Reports on a message that are shown. */
const MAX_RETURNS = 100

/** Only times are relative to something. */
async function clockOf(
  { search, before, after }: Static<typeof Question>,
  core: Core,
  accountId: number,
): Promise<Partial<SearchClock>> {
  const isTimed = /before|after/i.test(given(search) ?? '') || given(before) !== undefined || given(after) !== undefined
  return isTimed ? core.messages.searchClock(accountId) : {}
}

/** Throws parameterInvalid. */
function searchOf(input: Static<typeof Question>, clock: Partial<SearchClock>): MessageSearch {
  const prefix = given(input.subject_prefix)
  const search = parseSearch(given(input.search) ?? '', clock)
  const named = prefix === undefined ? search : addSubjectBeginning(search, 'subject_prefix', prefix)
  return SEARCH_KEYS.reduce((sum, key) => {
    const value = given(input[key])
    return value === undefined ? sum : addToSearch(sum, key, value, clock)
  }, named)
}

/** Throws parameterInvalid. */
function cursorOf(cursor: string | number | null | undefined): string | undefined {
  const text = given(cursor)
  if (text !== undefined && !/^[0-9a-f]{32}\.\d{1,6}$/.test(text)) {
    throw invalidParameter('cursor', 'must be the value of next in the previous response')
  }
  return text
}

/** Returns a page of a message of the caller's account. Throws messageNotFound. */
export async function requireMessage(
  messageId: string,
  { core, principal }: Pick<Call, 'core' | 'principal'>,
  page: { readonly fromRecipient: number },
): Promise<MessageDetails> {
  const details = await core.messages.show(messageId, { accountId: principal.account.id, page })
  if (!details) throw new ServiceError('messageNotFound')
  return details
}

async function detailed(core: Core, details: MessageDetails): Promise<Static<typeof DetailedMessage>> {
  const returns = await core.returns.list({ messageId: details.id, limit: MAX_RETURNS })
  const last = details.deliveries.at(-1)
  const isLastPage = !last || details.deliveries.length < MAX_EXPLAINED || last.recipientNo + 1 >= details.recipients
  return detailedMessage(
    details,
    returns.map(({ kind, recipientNo, receivedAt, reporter, effect }) => ({
      kind,
      recipientNo,
      receivedAt: receivedAt.toISOString(),
      reporter,
      effect,
    })),
    isLastPage,
  )
}

function shownExample(): Static<typeof DetailedMessage> {
  const { messageId, door, fromaddress, subject, tags, size, hasAttachment, keepContent, acceptedAt, ...row } = example
  const { trid, recipientNo, recipient, kind, xapiheader, state, reason } = row
  return {
    messageId,
    door,
    fromaddress,
    subject,
    tags,
    size,
    hasAttachment,
    keepContent,
    acceptedAt,
    scheduledAt: null,
    keyId: 12,
    clientAddress: '192.0.2.7',
    bodyStored: true,
    corrected: null,
    notifications: null,
    resentFrom: null,
    resentAs: [],
    recipients: 1,
    deliveries: [
      {
        trid,
        recipientNo,
        recipient,
        kind,
        xapiheader,
        state,
        reason,
        waitingFor: 'retry' as const,
        text: 'mx.harbor.example rejected it temporarily (451 4.7.1 greylisted). The next attempt is planned for 10:16 UTC.',
        since: '2026-01-05T10:11:14.000Z',
        nextAt: row.nextAt,
        expected: { p50: row.nextAt, p90: null, basis: 'next attempt' },
        ahead: null,
        deadline: '2026-01-08T10:11:12.000Z',
        place: null,
        bouncedAt: null,
        bounce: null,
        notify: null,
        metadata: { order: '9001' },
        originalRecipient: null,
        finishedAt: null,
        attempts: [
          {
            attempt: 1,
            time: '2026-01-05T10:11:13.000Z',
            outcome: 'deferred' as const,
            indeterminate: false,
            stage: 'rcpt',
            host: 'mx.harbor.example',
            place: 'mx.harbor.example',
            code: 451,
            enhanced: '4.7.1',
            reply: 'greylisted',
            ms: 84,
            address: '192.0.2.25',
            tls: 'TLSv1.3',
            tlsPolicy: null,
            tlsOrigin: null,
            tlsVerified: true,
            conversation: [{ step: 'rcpt', ms: 12, code: 451, enhanced: '4.7.1', text: 'greylisted' }],
          },
        ],
      },
    ],
    nextRecipient: null,
    events: [{ id: '41', type: 'processed', time: acceptedAt, recipientNo: 0, detail: null }],
    moreEvents: false,
    suppressions: [],
    returns: [],
  }
}
