import { type BrowsedSuppression, type BrowseFilter, replyLine, type SuppressionReason } from '@postrider/core'
import Type from 'typebox'
import { GLOBAL_REASONS, OfAddress, unixSeconds } from './group-suppressions.ts'
import { type Call, type Operation, operation } from './operation.ts'
import { sendPageLinks, totalOf } from './page-links.ts'
import { badRequest, notFound } from './refusal.ts'

/** One of v3's lists: the global suppressions with certain reasons. */
interface List {
  readonly path: string
  readonly noun: string
  readonly summary: string
  readonly right: string
  /** Path of one entry in official examples, in addition to the list's own path (contract, corrections). */
  readonly singular?: { readonly path: string; readonly noun: string }
  readonly reasons: readonly SuppressionReason[]
  readonly shown: (entry: BrowsedSuppression) => Readonly<Record<string, unknown>>
}

/** Code and text of the server's reply (pair P45). */
function reasonOf({ code, status, reply }: BrowsedSuppression): string {
  if (reply === null) return 'suppressed manually'
  return replyLine({ reply, ...(code === null ? {} : { code }), ...(status === null ? {} : { enhanced: status }) })
}

const LISTS: readonly List[] = [
  {
    path: '/suppression/bounces',
    noun: 'Bounces',
    summary: 'the bounced addresses',
    right: 'suppression.bounces',
    reasons: ['hardbounce'],
    shown: (entry) => ({
      created: unixSeconds(entry.since),
      email: entry.email,
      reason: reasonOf(entry),
      status: entry.status ?? '',
    }),
  },
  {
    // Temporary failures do not suppress recipients in this service.
    path: '/suppression/blocks',
    noun: 'Blocks',
    summary: 'temporary blocks (always empty)',
    right: 'suppression.blocks',
    reasons: [],
    shown: (entry) => ({
      created: unixSeconds(entry.since),
      email: entry.email,
      reason: reasonOf(entry),
      status: entry.status ?? '',
    }),
  },
  {
    // A malformed address causes an event and is not on any list.
    path: '/suppression/invalid_emails',
    noun: 'InvalidEmails',
    summary: 'malformed addresses (always empty)',
    right: 'suppression.invalid_emails',
    reasons: [],
    shown: (entry) => ({ created: unixSeconds(entry.since), email: entry.email, reason: reasonOf(entry) }),
  },
  {
    path: '/suppression/spam_reports',
    noun: 'SpamReports',
    summary: 'spam complaints',
    right: 'suppression.spam_reports',
    singular: { path: '/suppression/spam_report', noun: 'SpamReport' },
    reasons: ['abuse'],
    shown: ({ email, since }) => ({ created: unixSeconds(since), email, ip: '' }),
  },
  {
    path: '/suppression/unsubscribes',
    noun: 'Unsubscribes',
    summary: 'the global unsubscribes',
    right: 'suppression.unsubscribes',
    reasons: GLOBAL_REASONS,
    shown: ({ email, since }) => ({ created: unixSeconds(since), email }),
  },
]

const Seconds = Type.Integer({ minimum: 0, maximum: 253_402_300_799 })
const Removed = Type.Object({
  delete_all: Type.Optional(Type.Boolean()),
  emails: Type.Optional(Type.Array(Type.String())),
})
/** Addresses removed per transaction. */
const BATCH_SIZE = 5000
/** v3's name of the permission to read all of these lists. */
export const READS = { alsoRight: 'suppression.read' } as const
const DELETES = { alsoRight: 'suppression.delete' } as const
const common = { scope: 'suppressions', section: '7.1' } as const

/** Global suppressions, with a list for each kind of reason (contract 7.1). */
export const SUPPRESSIONS: readonly Operation[] = LISTS.flatMap((list): Operation[] => {
  const { path, noun, singular, summary, right, reasons, shown } = list
  const all = operation({
    name: `list${noun}`,
    summary: `List ${summary}`,
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
        reasons,
        group: 0,
        limit,
        offset,
        prefix: email?.toLowerCase(),
        from: start_time === undefined ? undefined : new Date(start_time * 1000),
        to: end_time === undefined ? undefined : new Date(end_time * 1000),
      }
      const found = await browse(call, filter)
      if (limit > 0) {
        const total = await totalOf(filter, found.length, () => countBrowsed(call, filter))
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
      ...common,
      method: 'DELETE',
      path,
      right: `${right}.delete`,
      ...DELETES,
      status: 204,
      body: Removed,
      act: async ({ body: { delete_all: all = false, emails = [] } }, call) => {
        if (all === emails.length > 0) throw badRequest()
        await remove(call, reasons, all ? undefined : emails)
      },
    }),
    deleteOne(list, { path, noun: `${noun}Of` }),
    ...(singular ? [viewOne(list, singular), deleteOne(list, singular)] : []),
  ]
})

type Named = Pick<List, 'path' | 'noun'>

function viewOne({ summary, right, reasons, shown }: List, { path, noun }: Named): Operation {
  return operation({
    name: `view${noun}`,
    summary: `Show one entry of ${summary}, or []`,
    ...common,
    method: 'GET',
    path: `${path}/:email`,
    right: `${right}.read`,
    ...READS,
    status: 200,
    params: OfAddress,
    act: async ({ params }, call) => (await one(call, reasons, params.email)).map(shown),
  })
}

function deleteOne({ summary, right, reasons }: List, { path, noun }: Named): Operation {
  return operation({
    name: `delete${noun}`,
    summary: `Remove one entry of ${summary}`,
    ...common,
    method: 'DELETE',
    path: `${path}/:email`,
    right: `${right}.delete`,
    ...DELETES,
    status: 204,
    params: OfAddress,
    act: async ({ params }, call) => {
      if ((await remove(call, reasons, [params.email])) === 0) throw notFound()
    },
  })
}

/** Maximum number of entries per response (contract 1.7). */
const PAGE = 500

async function browse({ core, principal }: Call, filter: BrowseFilter): Promise<BrowsedSuppression[]> {
  return filter.reasons.length === 0 ? [] : core.suppressions.browse(principal.account.id, filter)
}

async function countBrowsed({ core, principal }: Call, filter: BrowseFilter): Promise<number> {
  return filter.reasons.length === 0 ? 0 : core.suppressions.countBrowsed(principal.account.id, filter)
}

function one(call: Call, reasons: readonly SuppressionReason[], email: string): Promise<BrowsedSuppression[]> {
  return browse(call, { reasons, group: 0, emails: [email.toLowerCase()], limit: 1, offset: 0 })
}

/** Removes the named entries, or all entries, of the list and returns how many were removed. */
async function remove(call: Call, reasons: readonly SuppressionReason[], named?: readonly string[]): Promise<number> {
  const { core, principal, by } = call
  let removed = 0
  for (let at = 0; named === undefined || at < named.length; at += BATCH_SIZE) {
    const emails = named?.slice(at, at + BATCH_SIZE).map((email) => email.toLowerCase())
    const found = (await browse(call, { reasons, group: 0, emails, limit: BATCH_SIZE, offset: 0 })).map(
      ({ email }) => email,
    )
    if (found.length === 0 && named === undefined) break
    if (found.length === 0) continue
    const count = await core.suppressions.removeAll({ accountId: principal.account.id, emails: found, by })
    if (count === 0 && named === undefined) break
    removed += count
  }
  return removed
}
