import { type BrowsedSuppression, type BrowseFilter, replyLine, type SuppressionReason } from '@postrider/core'
import Type from 'typebox'
import { type Call, type Operation, operation } from './operation.ts'
import { sendPageLinks, totalOf } from './page-links.ts'
import { badRequest, notFound } from './refusal.ts'
import { GLOBAL_REASONS, OfAddress, unixSeconds } from './suppression-groups.ts'

/** One of v3's lists: those of our suppressions of all mail that have its reasons. */
interface List {
  readonly path: string
  readonly noun: string
  readonly summary: string
  readonly right: string
  /** How official examples write the path of one entry, beside the list's own (v3 contract 7.1). */
  readonly singular?: { readonly path: string; readonly noun: string }
  readonly reasons: readonly SuppressionReason[]
  readonly shown: (entry: BrowsedSuppression) => Readonly<Record<string, unknown>>
}

/** Code and text, as the server said them (pair P45). */
function reasonOf({ code, status, reply }: BrowsedSuppression): string {
  if (reply === null) return 'suppressed by hand'
  return replyLine({ reply, ...(code === null ? {} : { code }), ...(status === null ? {} : { enhanced: status }) })
}

const LISTS: readonly List[] = [
  {
    ...{
      path: '/suppression/bounces',
      noun: 'Bounces',
      summary: 'addresses that do not exist',
      right: 'suppression.bounces',
    },
    reasons: ['hardbounce'],
    shown: (entry) => ({
      ...{ created: unixSeconds(entry.since), email: entry.email, reason: reasonOf(entry), status: entry.status ?? '' },
    }),
  },
  {
    // A refusal for the moment suppresses nobody here.
    ...{
      path: '/suppression/blocks',
      noun: 'Blocks',
      summary: 'temporary refusals: always empty',
      right: 'suppression.blocks',
    },
    reasons: [],
    shown: (entry) => ({
      ...{ created: unixSeconds(entry.since), email: entry.email, reason: reasonOf(entry), status: entry.status ?? '' },
    }),
  },
  {
    // A malformed address becomes an event, and is on no list.
    ...{ path: '/suppression/invalid_emails', noun: 'InvalidEmails', summary: 'malformed addresses: always empty' },
    right: 'suppression.invalid_emails',
    reasons: [],
    shown: (entry) => ({ created: unixSeconds(entry.since), email: entry.email, reason: reasonOf(entry) }),
  },
  {
    ...{
      path: '/suppression/spam_reports',
      noun: 'SpamReports',
      summary: 'people who complained',
      right: 'suppression.spam_reports',
    },
    singular: { path: '/suppression/spam_report', noun: 'SpamReport' },
    reasons: ['abuse'],
    shown: ({ email, since }) => ({ created: unixSeconds(since), email, ip: '' }),
  },
  {
    ...{ path: '/suppression/unsubscribes', noun: 'Unsubscribes', summary: 'people who want no mail at all' },
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
/** Addresses lifted at a time. */
const AT_ONCE = 5000
/** v3's names of the rights to all of these lists at once. */
export const READS = { alsoRight: 'suppression.read' } as const
const DELETES = { alsoRight: 'suppression.delete' } as const
const common = { scope: 'suppressions', section: '7.1' } as const

/** Who is suppressed for all mail, a list for each kind of reason (contract 7.1). */
export const SUPPRESSIONS: readonly Operation[] = LISTS.flatMap((list): Operation[] => {
  const { path, noun, singular, summary, right, reasons, shown } = list
  const all = operation({
    name: `list${noun}`,
    summary: `Lists ${summary}`,
    ...{ ...common, method: 'GET', path, right: `${right}.read`, ...READS, status: 200 },
    query: Type.Object({
      ...{ start_time: Type.Optional(Seconds), end_time: Type.Optional(Seconds) },
      limit: Type.Optional(Type.Integer({ minimum: 0 })),
      offset: Type.Optional(Type.Integer({ minimum: 0 })),
      email: Type.Optional(Type.String()),
    }),
    act: async ({ query }, call) => {
      const { start_time, end_time, offset = 0, email } = query
      const limit = Math.min(query.limit ?? PAGE, PAGE)
      const filter = {
        ...{ reasons, group: 0, limit, offset, prefix: email?.toLowerCase() },
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
  // Who wants no mail is put on and taken off through /asm/suppressions/global only.
  if (noun === 'Unsubscribes') return operations
  return [
    ...operations,
    operation({
      name: `delete${noun}`,
      summary: `Lifts some or all of ${summary}`,
      ...{ ...common, method: 'DELETE', path, right: `${right}.delete`, ...DELETES, status: 204, body: Removed },
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
    summary: `One entry of ${summary}, or none`,
    ...{
      ...common,
      method: 'GET',
      path: `${path}/:email`,
      right: `${right}.read`,
      ...READS,
      status: 200,
      params: OfAddress,
    },
    act: async ({ params }, call) => (await one(call, reasons, params.email)).map(shown),
  })
}

function deleteOne({ summary, right, reasons }: List, { path, noun }: Named): Operation {
  return operation({
    name: `delete${noun}`,
    summary: `Lifts one of ${summary}`,
    ...{ ...common, method: 'DELETE', path: `${path}/:email`, right: `${right}.delete`, ...DELETES, status: 204 },
    params: OfAddress,
    act: async ({ params }, call) => {
      if ((await remove(call, reasons, [params.email])) === 0) throw notFound()
    },
  })
}

/** Entries of one answer at most (contract 1.7). */
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

/** Lifts those of the list that are named, or all of it; answers how many. */
async function remove(call: Call, reasons: readonly SuppressionReason[], named?: readonly string[]): Promise<number> {
  const { core, principal, by } = call
  let removed = 0
  for (let at = 0; named === undefined || at < named.length; at += AT_ONCE) {
    const emails = named?.slice(at, at + AT_ONCE).map((email) => email.toLowerCase())
    const found = (await browse(call, { reasons, group: 0, emails, limit: AT_ONCE, offset: 0 })).map(
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
