import Type from 'typebox'
import { type Operation, operation } from '../operation.ts'
import { PeriodQuery, pageOf, sendPeriodLinks, spanOf, toV3Error, WRONG } from './stats.ts'

function unknownStats(subject: string, noun: string, filter: string): Operation {
  return operation({
    name: `get${noun}Stats`,
    summary: `List the periods of statistics by ${subject}, which are not counted: the lists are empty`,
    cli: { none: 'opens and clicks are not counted by program or place' },
    section: '4',
    method: 'GET',
    path: `/${subject}/stats`,
    scope: 'stats',
    status: 200,
    right: `${subject}.stats.read`,
    query: Type.Object({ ...PeriodQuery, [filter]: Type.Optional(Type.Array(Type.String())) }),
    wrong: WRONG,
    act: async ({ query }, call) => {
      const { core, principal } = call
      const question = {
        accountId: principal.account.id,
        ...spanOf(query),
        ...pageOf(query),
        wanted: { kind: 'total' } as const,
      }
      const { periods, total } = await core.stats.show(question, call.reads).catch(toV3Error)
      sendPeriodLinks(call, query, total)
      return periods.map(({ date }) => ({ date, stats: [] }))
    },
  })
}

/** Opens and clicks are not counted by what is behind them: events have the user agent and the address of each. */
export const READER_STATS: readonly Operation[] = [
  unknownStats('devices', 'Devices', 'devices'),
  unknownStats('clients', 'Clients', 'clients'),
  unknownStats('browsers', 'Browsers', 'browsers'),
  unknownStats('geo', 'Geo', 'country'),
]
