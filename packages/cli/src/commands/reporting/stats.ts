import {
  BOUNCE_CLASSIFICATIONS,
  type Counts,
  MAILBOX_PROVIDERS,
  type NamedCounts,
  OTHER_PROVIDERS,
  type Subject,
  type Wanted,
} from '@postrider/core'
import { type Command, UsageError } from '../../command.ts'
import { progressOf } from '../../importing/progress.ts'
import { table, tableOr } from '../../table.ts'
import { requireAccount } from '../account-option.ts'
import { coreCommand, type Given } from '../core-command.ts'

/** The option of each subject of statistics. */
const SUBJECTS = { domain: 'domain', site: 'recipient_domain', tag: 'tag' } as const satisfies Record<string, Subject>
const BY = [...Object.keys(SUBJECTS), 'subaccount', 'provider'] as const

const SPAN_USAGE = '--account ID --from DAY [--to DAY]'
const SPAN = {
  from: "First day in the account's time zone, for example 2030-01-31",
  to: 'Last day (default: today)',
}
const ONE_USAGE = '[--domain DOMAIN | --site DOMAIN | --tag TAG] [--subaccount USERNAME]'
const ONE = {
  domain: 'Only mail from this sending domain',
  site: "Only mail to this recipient's domain",
  tag: 'Only mail with this tag',
  subaccount: 'Statistics of the subaccount with this user name',
}
const AFTER = 'Number of rows after which the page begins'

export const statsCommands: readonly Command[] = [
  coreCommand({
    name: 'stats show',
    usage: `${SPAN_USAGE} [--period day|week|month] [--by ${BY.join('|')}] ${ONE_USAGE} [--limit N] [--after ROWS]`,
    summary: "Show what became of an account's mail, per day, week or month",
    parameters: {
      ...SPAN,
      ...ONE,
      period: 'Length of the periods (default day)',
      by: 'A row for each sending domain, domain of recipients, tag, subaccount or mailbox provider',
      after: AFTER,
    },
    examples: ['stats show --account 12 --from 2030-01-01 --period month --by site'],
    prepare: ({ by, domain, site, tag, period = 'day', ...given }) => {
      const question = { ...questionOf(given), wanted: wantedOf(by, { domain, site, tag }), period }
      return async (core) => {
        await requireAccount(core, question.accountId)
        const answer = await core.stats.show(question)
        const rows = answer.periods.flatMap(({ date, stats }) => stats.map((one) => [date, ...rowOf(one)]))
        return { data: answer, text: tableOf('period', question.wanted.kind, rows) }
      }
    },
  }),
  coreCommand({
    name: 'stats sums',
    usage: `${SPAN_USAGE} --by domain|site|tag [--subaccount USERNAME] [--limit N] [--after ROWS]`,
    summary: "Show what became of an account's mail over a date range, the busiest names first",
    parameters: {
      ...SPAN,
      by: 'A row for each sending domain, domain of recipients or tag',
      subaccount: ONE.subaccount,
      after: AFTER,
    },
    run: async (core, { by, ...given }) => {
      await requireAccount(core, given.account)
      const answer = await core.stats.sums({ ...questionOf(given), subject: SUBJECTS[by] })
      const rows = answer.stats.map((one) => ['', ...rowOf(one)])
      return { data: answer, text: tableOf('', 'each', rows) }
    },
  }),
  coreCommand({
    name: 'stats tags',
    usage: '--account ID [--prefix TEXT] [--limit N] [--after ROWS]',
    summary: 'List the tags that messages of an account have used, by name',
    parameters: { prefix: 'Only tags that begin with this text', after: AFTER },
    run: async ({ stats }, { account: accountId, prefix = '', limit, after: offset }) => {
      const found = await stats.tags({ accountId, prefix, limit, offset })
      const rows = found.tags.map(({ name, createdAt }) => [name, createdAt])
      return { data: found, text: tableOr('no tags', ['tag', 'first used'], rows) }
    },
  }),
  coreCommand({
    name: 'stats bounces',
    usage: `${SPAN_USAGE} [--classification NAME]`,
    summary: 'Count the bounces of an account per day and reason, or those of one reason by domain',
    parameters: { ...SPAN, classification: `One of ${BOUNCE_CLASSIFICATIONS.map((name) => `"${name}"`).join(', ')}` },
    prepare: ({ account: accountId, from: first, classification: named, to }) => {
      const classification = BOUNCE_CLASSIFICATIONS.find((one) => one === named)
      if (named !== undefined && classification === undefined) {
        throw new UsageError(`--classification must be one of ${BOUNCE_CLASSIFICATIONS.join(', ')} (got "${named}")`)
      }
      return async (core) => {
        await requireAccount(core, accountId)
        const days = await core.stats.bounces({ accountId, first, last: to, classification })
        const rows = days.flatMap(({ date, counts }) => counts.map(({ name, count }) => [date, name, count]))
        const name = classification === undefined ? 'reason' : 'domain'
        return { data: days, text: tableOr('no bounces', ['day', name, 'bounces'], rows) }
      }
    },
  }),
  coreCommand({
    name: 'stats recount',
    usage: '--account ID [--from DAY] [--to DAY]',
    summary: "Recompute an account's statistics from its events, day by day",
    parameters: {
      from: 'First day, for example 2030-01-31 (default: that of the first event)',
      to: 'Last day (default: today)',
    },
    examples: ['stats recount --account 12'],
    run: async (core, { account: accountId, from: first, to: last }, call) => {
      const progress = progressOf(call)
      let days = 0
      const range = await core.stats.recount({ accountId, first, last, onDay: () => progress.show('days', ++days) })
      progress.end()
      const text = range
        ? `recomputed ${days} days of account ${accountId}, ${range.first} to ${range.last}`
        : `account ${accountId} has no events`
      return { data: { accountId, days, ...range }, text }
    },
  }),
]

type Question = Given<`${typeof SPAN_USAGE} [--subaccount USERNAME] [--limit N] [--after ROWS]`>

function questionOf({ account: accountId, from: first, to: last, after: offset, ...rest }: Question) {
  return { accountId, first, last, times: true, offset, ...rest }
}

/** Counts exist for one subject at a time. Throws {@link UsageError}. */
function wantedOf(by: string | undefined, names: Readonly<Record<keyof typeof SUBJECTS, string | undefined>>): Wanted {
  const one = (['domain', 'site', 'tag'] as const).filter((name) => names[name] !== undefined)
  const [first, second] = by === undefined ? one : ['by', ...one]
  if (second !== undefined) throw new UsageError(`--${first} and --${second} cannot be used together`)
  if (by === 'provider') {
    return { kind: 'groups', subject: 'recipient_domain', groups: MAILBOX_PROVIDERS, others: OTHER_PROVIDERS }
  }
  if (by !== undefined) {
    const subject = by === 'subaccount' ? by : SUBJECTS[by as keyof typeof SUBJECTS]
    if (subject === undefined) throw new UsageError(`--by must be one of ${BY.join(', ')} (got "${by}")`)
    return { kind: 'each', subject }
  }
  const [option] = one
  if (option === undefined) return { kind: 'total' }
  return { kind: 'one', subject: SUBJECTS[option], name: names[option] ?? '' }
}

/** Columns of the table; --json has every count. */
const COLUMNS: readonly (readonly [heading: string, count: (counts: Counts) => number])[] = [
  ['delivered', ({ sent }) => sent],
  ['bounced', ({ soft_bounced, hard_bounced, expired }) => soft_bounced + hard_bounced + expired],
  ['dropped', ({ dropped, invalid }) => dropped + invalid],
  ['opened', ({ unique_opened }) => unique_opened],
  ['clicked', ({ unique_clicked }) => unique_clicked],
  ['unsubscribed', ({ unsubscribed }) => unsubscribed],
  ['complaints', ({ complained }) => complained],
]

function rowOf({ name, counts, deliveryTime }: NamedCounts): unknown[] {
  return [name ?? 'other', ...COLUMNS.map(([, count]) => count(counts)), deliveryTime?.p50]
}

/** Without a heading for the first column there is none, and the total has no names. */
function tableOf(first: string, kind: Wanted['kind'], rows: readonly (readonly unknown[])[]): string {
  if (rows.length === 0) return 'no mail'
  const headings = [first, kind === 'total' ? '' : 'name', ...COLUMNS.map(([heading]) => heading), 'seconds (p50)']
  const isShown = headings.map((heading) => heading !== '')
  return table(
    headings.filter((_heading, at) => isShown[at]),
    rows.map((row) => row.filter((_cell, at) => isShown[at])),
  )
}
