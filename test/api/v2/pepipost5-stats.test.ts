import { createRequire } from 'node:module'
import t from 'tap'
import { countAll, happen } from '../../core/reporting/statistics/happen.ts'
import { acceptMessage } from '../../core/submission.ts'
import { stopClock } from '../../helpers/database.ts'
import { makeService } from '../../helpers/service.ts'

/** The official client of the later v5 API, as its package stands; it brings no types. Its paths are v2's. */
interface Sdk {
  readonly Configuration: { BASEURI: string; apiKey: string }
  readonly StatsController: {
    getStatsGET(
      startdate: object | null,
      enddate?: object | null,
      aggregatedBy?: string | null,
      offset?: number | null,
      limit?: number | null,
    ): Promise<{ data: { date: string; stats: { metrics: Record<string, number> }[] }[] }>
  }
  readonly AggregatedByEnum: Readonly<Record<string, string>>
}
const load = createRequire(import.meta.url)
const sdk = load('pepipost5') as Sdk
/** The library whose dates the client wants. */
const date = createRequire(load.resolve('pepipost5'))('moment') as (text: string) => object

const service = await makeService(t)
sdk.Configuration.BASEURI = `${await service.openApi()}/v2`

t.test('the client of v5, pointed at /v2, reads statistics', async (t) => {
  const sender = await service.makeSender()
  const today = (await stopClock(service.sql, { seconds: 600 })).toISOString().slice(0, 10)
  sdk.Configuration.apiKey = sender.apiKey
  const { messageId } = await acceptMessage(service, sender)
  await happen(service, sender.accountId, { type: 'sent', messageId }, { type: 'opened', messageId })
  await countAll(service)
  const { getStatsGET } = sdk.StatsController
  const { data } = await getStatsGET(date(today), null, null, null, null)
  t.match(data, [{ date: today, stats: [{ metrics: { sent: 1, open: 1, bounce: 0 } }] }])
  t.equal(data.length, 1)

  const { WEEK = '' } = sdk.AggregatedByEnum
  const weeks = await getStatsGET(date('2026-01-01'), date('2026-01-31'), WEEK, 2, 3)
  t.strictSame(
    weeks.data.map((week) => [week.date, week.stats[0]?.metrics.sent]),
    [
      ['2026-01-05', 0],
      ['2026-01-12', 0],
      ['2026-01-19', 0],
    ],
  )
  t.equal(
    (await getStatsGET(date('2026-01-01'), date('2026-01-05'))).data.length,
    5,
    'what it leaves out is the default',
  )
  const refused: unknown = await getStatsGET(date('2026-02-01'), date('2026-01-01')).catch((error) => error)
  t.match(refused, { errorCode: 400, errorResponse: /"error_code":161/ })
})
