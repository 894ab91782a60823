import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { startInternet } from '../delivery/outbox.ts'
import { OF_EUROPEAN_PROVIDERS } from '../delivery/wordings/european-providers.ts'
import { OF_FILTERS } from '../delivery/wordings/filters.ts'
import { OF_OVERSEAS_PROVIDERS } from '../delivery/wordings/overseas-providers.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import type { Sender } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'

/** Sites at once. */
const AT_ONCE = 12
/** Messages of each of two senders to a site. */
const OF_EACH = 30
/** Messages whose rate is measured, and how much of it they keep beside refusals. */
const MEASURED = 400
const LEAST_RATE = 0.95
/** Messages that a site may refuse for good before its mail waits. */
const MOST_LOST = 25

const internet = await startInternet(t, { SITE_CONNECTIONS: '5' })
const { service, sender } = internet
const other = await service.makeSender()
const replies = [...OF_EUROPEAN_PROVIDERS, ...OF_FILTERS, ...OF_OVERSEAS_PROVIDERS].flatMap((one) => one.replies)
/** Others are refusals of one recipient, or by its own filter. */
const OF_SENDERS: readonly string[] = ['spam', 'policy', 'rate', 'authentication']
const left = replies.flatMap(([of, reply]) => (OF_SENDERS.includes(of) ? [reply] : []))

await t.test(
  `whatever the words with which a site refuses its sender, ${MOST_LOST} messages are lost at most`,
  async (t) => {
    const healthy = await internet.host(t)
    const elsewhere = internet.domain([healthy])
    let sent = 0
    const workThrough = async (): Promise<void> => {
      for (let reply = left.pop(); reply !== undefined; reply = left.pop()) {
        const host = await internet.host(t, { dot: () => reply })
        const domain = internet.domain([host])
        await Promise.all([sendMany(sender, domain), sendMany(other, domain)])
        await sendMany(sender, elsewhere, `${++sent}-`)
        await until(
          reply,
          async () => {
            const { finished, waiting } = await countsOf(domain)
            return finished + waiting === 2 * OF_EACH || undefined
          },
          120_000,
        )
        const { finished, suppressed } = await countsOf(domain)
        t.ok(finished <= MOST_LOST, `${finished} lost: ${reply}`)
        t.equal(suppressed, 0, `no address is suppressed: ${reply}`)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, workThrough))
    await until('all elsewhere', () => (healthy.messages.length === sent * OF_EACH ? true : undefined), 120_000)
  },
)

await t.test(`mail for other sites keeps ${LEAST_RATE} of its rate beside ${AT_ONCE} sites that refuse`, async (t) => {
  const taken: number[] = []
  const paced = await internet.host(t, {
    dot: async () => {
      await pause(100)
      taken.push(performance.now())
    },
  })
  const domain = internet.domain([paced])
  let sent = 0
  /** Messages a second, between the first and the last one. */
  const rate = async (): Promise<number> => {
    const from = taken.length
    await sendMany(sender, domain, `${++sent}-`, MEASURED)
    await until('all of them', () => taken.length === from + MEASURED || undefined, 120_000)
    const [first = 0, last = 0] = [taken[from], taken.at(-1)]
    return (1000 * (MEASURED - 1)) / (last - first)
  }
  // It learns how many connections the site takes.
  await rate()
  const before = await rate()
  const reply = '550 5.7.1 Service refuse. Veuillez essayer plus tard. Service refused, please try later. LPN007_510'
  const refused = Array.from({ length: AT_ONCE }, async () => {
    const domain = internet.domain([await internet.host(t, { dot: () => reply })])
    await Promise.all([sendMany(sender, domain), sendMany(other, domain)])
  })
  const beside = await rate()
  await Promise.all(refused)
  const after = await rate()
  t.comment(
    `${before.toFixed(1)} and ${after.toFixed(1)} messages a second alone, ${beside.toFixed(1)} beside refusals`,
  )
  t.ok(beside >= (LEAST_RATE * (before + after)) / 2)
})

async function sendMany(
  by: Sender,
  domain: string,
  prefix = by === sender ? 'a' : 'b',
  count = OF_EACH,
): Promise<void> {
  const personalizations = Array.from({ length: count }, (_, at) => ({ recipient: `${prefix}${at}@${domain}` }))
  const base = `http://127.0.0.1:${service.config.apiPort}`
  const { status, body } = await sendV2(base, by.apiKey, v2Body(by, { personalizations }))
  if (status !== 200) throw new Error(`not accepted: ${JSON.stringify(body)}`)
}

/** Its deliveries that have ended, those that wait for their destination or for a retry, and its addresses that no longer get mail. */
async function countsOf(domain: string): Promise<{ finished: number; waiting: number; suppressed: number }> {
  const [row] = await service.sql<{ finished: number; waiting: number; suppressed: number }[]>`
    select (select count(*)::int from finished_deliveries where recipient_domain = ${domain}) as finished,
           (select count(*)::int from delivery_queue
             where recipient_domain = ${domain} and worker_id is null and (place is not null or state = 'deferred')) as waiting,
           (select count(*)::int from suppressions where value like ${`%@${domain}`}) as suppressed`
  if (!row) throw new Error('no counts')
  return row
}
