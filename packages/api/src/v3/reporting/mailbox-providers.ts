import { MAILBOX_PROVIDERS, OTHER_PROVIDERS, type Weights } from '@postrider/core'
import Type from 'typebox'
import { type Operation, operation } from '../operation.ts'
import { refuse } from '../refusal.ts'
import { METRICS, PeriodQuery, pageOf, sendPeriodLinks, spanOf, sumsOf, toV3Error, WRONG } from './stats.ts'

/** Metrics of the response, in this order. */
const METRICS_SHOWN: Readonly<Record<string, Weights>> = {
  blocks: METRICS.blocks,
  bounces: METRICS.bounces,
  clicks: METRICS.clicks,
  deferred: METRICS.deferred,
  delivered: METRICS.delivered,
  drops: { dropped: 1 },
  opens: METRICS.opens,
  spam_reports: METRICS.spam_reports,
  unique_clicks: METRICS.unique_clicks,
  unique_opens: METRICS.unique_opens,
}
const NAMES = [...MAILBOX_PROVIDERS.keys(), OTHER_PROVIDERS]

/** Statistics by mailbox provider (contract section 4; the original API serves them next to /v3/stats). */
export const PROVIDER_STATS: readonly Operation[] = [
  operation({
    name: 'getMailboxProviderStats',
    summary: 'Show statistics per day, week or month by mailbox provider',
    cli: 'stats show',
    section: '4',
    method: 'GET',
    path: '/mailbox_providers/stats',
    scope: 'stats',
    status: 200,
    right: 'mailbox_providers.stats.read',
    query: Type.Object({
      ...PeriodQuery,
      mailbox_providers: Type.Optional(Type.Array(Type.String())),
    }),
    wrong: WRONG,
    act: async ({ query }, call) => {
      const { core, principal } = call
      const named = query.mailbox_providers
      if (named?.some((name) => !NAMES.includes(name))) {
        throw refuse(400, `mailbox_providers must be a list of ${NAMES.join(', ')}`, 'mailbox_providers')
      }
      const question = { accountId: principal.account.id, ...spanOf(query), ...pageOf(query) }
      const wanted = {
        ...({
          kind: 'groups',
          subject: 'recipient_domain',
          groups: MAILBOX_PROVIDERS,
          others: OTHER_PROVIDERS,
        } as const),
      }
      const { periods, total } = await core.stats.show({ ...question, wanted }, call.reads).catch(toV3Error)
      sendPeriodLinks(call, query, total)
      return periods.map(({ date, stats }) => {
        const rows = stats.map(({ name, counts }) => ({
          type: 'mailbox_provider',
          name,
          metrics: sumsOf(counts, METRICS_SHOWN),
        }))
        const isWanted = ({ name, metrics }: (typeof rows)[number]): boolean =>
          named ? named.includes(name ?? '') : Object.values(metrics).some((count) => count !== 0)
        return { date, stats: rows.filter(isWanted) }
      })
    },
  }),
]
