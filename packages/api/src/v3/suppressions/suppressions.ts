import { addressKey, type FailedAddress, replyLine } from '@postrider/core'
import Type from 'typebox'
import { type Operation, operation } from '../operation.ts'
import { sendPageLinks, totalOf } from '../page-links.ts'
import { badRequest, notFound } from '../refusal.ts'
import { type AddressList, failedWith, suppressedFor } from './address-lists.ts'
import { GLOBAL_REASONS, OfAddress, unixSeconds } from './group-suppressions.ts'

/** One of v3's lists. */
interface List {
  readonly path: string
  readonly noun: string
  readonly summary: string
  readonly right: string
  /** Path of one entry in official examples, in addition to the list's own path (contract, corrections). */
  readonly singular?: { readonly path: string; readonly noun: string }
  /** The noun of the commands. */
  readonly cli: 'suppression' | 'failed-address'
  readonly addresses: AddressList
  readonly shown: (entry: FailedAddress) => Readonly<Record<string, unknown>>
}

/** Code and text of the server's reply (pair P45). */
function reasonOf({ code, status, reply, told }: FailedAddress, otherwise: string): string {
  if (reply === null) return told ?? otherwise
  return replyLine({ reply, ...(code === null ? {} : { code }), ...(status === null ? {} : { enhanced: status }) })
}

const LISTS: readonly List[] = [
  {
    path: '/suppression/bounces',
    noun: 'Bounces',
    summary: 'the bounced addresses',
    right: 'suppression.bounces',
    cli: 'suppression',
    addresses: suppressedFor(['hardbounce']),
    shown: (entry) => ({
      created: unixSeconds(entry.since),
      email: entry.email,
      reason: reasonOf(entry, 'suppressed manually'),
      status: entry.status ?? '',
    }),
  },
  {
    // The recipients of events that v3's webhooks call blocked; they are not suppressed.
    path: '/suppression/blocks',
    noun: 'Blocks',
    summary: 'the addresses that a message could not be delivered to for reasons other than the address',
    right: 'suppression.blocks',
    cli: 'failed-address',
    addresses: failedWith('block'),
    shown: (entry) => ({
      created: unixSeconds(entry.since),
      email: entry.email,
      reason: reasonOf(entry, 'message expired'),
      status: entry.status ?? '',
    }),
  },
  {
    // Recipients that do not exist at a domain that does are suppressed, and among the bounces.
    path: '/suppression/invalid_emails',
    noun: 'InvalidEmails',
    summary: 'the addresses that are not valid, or whose domain does not exist or accepts no mail',
    right: 'suppression.invalid_emails',
    cli: 'failed-address',
    addresses: failedWith('invalid'),
    shown: (entry) => ({
      created: unixSeconds(entry.since),
      email: entry.email,
      reason: reasonOf(entry, 'Invalid'),
    }),
  },
  {
    path: '/suppression/spam_reports',
    noun: 'SpamReports',
    summary: 'spam complaints',
    right: 'suppression.spam_reports',
    singular: { path: '/suppression/spam_report', noun: 'SpamReport' },
    cli: 'suppression',
    addresses: suppressedFor(['abuse']),
    shown: ({ email, since }) => ({ created: unixSeconds(since), email, ip: '' }),
  },
  {
    path: '/suppression/unsubscribes',
    noun: 'Unsubscribes',
    summary: 'the global unsubscribes',
    right: 'suppression.unsubscribes',
    cli: 'suppression',
    addresses: suppressedFor(GLOBAL_REASONS),
    shown: ({ email, since }) => ({ created: unixSeconds(since), email }),
  },
]

const Seconds = Type.Integer({ minimum: 0, maximum: 253_402_300_799 })
const Removed = Type.Object({
  delete_all: Type.Optional(Type.Boolean()),
  emails: Type.Optional(Type.Array(Type.String())),
})
/** v3's name of the permission to read all of these lists. */
export const READS = { alsoRight: 'suppression.read' } as const
const DELETES = { alsoRight: 'suppression.delete' } as const
const common = { scope: 'suppressions', section: '7.1' } as const

/** Lists of addresses, one for each kind of reason (contract 7.1). */
export const SUPPRESSIONS: readonly Operation[] = LISTS.flatMap((list): Operation[] => {
  const { path, noun, singular, summary, cli, right, addresses, shown } = list
  const all = operation({
    name: `list${noun}`,
    summary: `List ${summary}`,
    cli: `${cli} list`,
    ...common,
    method: 'GET',
    path,
    right: `${right}.read`,
    ...READS,
    status: 200,
    query: Type.Object({
      start_time: Type.Optional(Seconds),
      end_time: Type.Optional(Seconds),
      limit: Type.Optional(Type.Integer({ minimum: 0 })),
      offset: Type.Optional(Type.Integer({ minimum: 0 })),
      email: Type.Optional(Type.String()),
    }),
    act: async ({ query }, call) => {
      const { start_time, end_time, offset = 0, email } = query
      const limit = Math.min(query.limit ?? PAGE, PAGE)
      const filter = {
        limit,
        offset,
        prefix: email === undefined ? undefined : addressKey(email),
        from: start_time === undefined ? undefined : new Date(start_time * 1000),
        to: end_time === undefined ? undefined : new Date(end_time * 1000),
      }
      const found = await addresses.browse(call, filter)
      if (limit > 0) {
        const total = await totalOf(filter, found.length, () => addresses.count(call, filter))
        sendPageLinks(call, { limit, offset, total })
      }
      return found.map(shown)
    },
  })
  const operations = [all, viewOne(list, { path, noun })]
  // Global unsubscribes are added and removed only through /asm/suppressions/global.
  if (noun === 'Unsubscribes') return operations
  return [
    ...operations,
    operation({
      name: `delete${noun}`,
      summary: `Remove some or all of ${summary}`,
      cli: `${cli} remove`,
      ...common,
      method: 'DELETE',
      path,
      right: `${right}.delete`,
      ...DELETES,
      status: 204,
      body: Removed,
      act: async ({ body: { delete_all: all = false, emails = [] } }, call) => {
        if (all === emails.length > 0) throw badRequest()
        await addresses.remove(call, all ? undefined : emails.map(addressKey))
      },
    }),
    deleteOne(list, { path, noun: `${noun}Of` }),
    ...(singular ? [viewOne(list, singular), deleteOne(list, singular)] : []),
  ]
})

type Named = Pick<List, 'path' | 'noun'>

function viewOne({ summary, cli, right, addresses, shown }: List, { path, noun }: Named): Operation {
  return operation({
    name: `view${noun}`,
    summary: `Show one entry of ${summary}, or []`,
    cli: `${cli} list`,
    ...common,
    method: 'GET',
    path: `${path}/:email`,
    right: `${right}.read`,
    ...READS,
    status: 200,
    params: OfAddress,
    act: async ({ params: { email } }, call) =>
      (await addresses.browse(call, { emails: [addressKey(email)], limit: 1, offset: 0 })).map(shown),
  })
}

function deleteOne({ summary, cli, right, addresses }: List, { path, noun }: Named): Operation {
  return operation({
    name: `delete${noun}`,
    summary: `Remove one entry of ${summary}`,
    cli: `${cli} remove`,
    ...common,
    method: 'DELETE',
    path: `${path}/:email`,
    right: `${right}.delete`,
    ...DELETES,
    status: 204,
    params: OfAddress,
    act: async ({ params }, call) => {
      if ((await addresses.remove(call, [addressKey(params.email)])) === 0) throw notFound()
    },
  })
}

/** Maximum number of entries per response (contract 1.7). */
const PAGE = 500
