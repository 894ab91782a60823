import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startInternetProcess } from '../delivery/outbox.ts'
import { keep } from '../helpers/keeper.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { until } from '../helpers/until.ts'

const WORKERS = 4
const THROTTLED = 5000
const OTHERS = 3000
const PER_CALL = 500

t.test(
  'a provider that throttles is paused by four workers within two seconds, and others get their mail as before',
  { timeout: 600_000 },
  async (t) => {
    const file = join(t.testdir(), 'providers.yaml')
    writeFileSync(
      file,
      `providers:
  - name: throttling
    mx: [.throttling.example]
    connections: 10
    rules: [{ id: throttling-tss04, reply: '[TSS04]', times: 2, pause: 2h }]
  - { name: other, mx: [.other.example], connections: 20 }
`,
    )
    const internet = await startInternetProcess(t, { PROVIDERS_FILE: file })
    const { service, sender } = internet
    const offers: number[] = []
    const throttling = await internet.host(
      t,
      {
        rcpt: () => {
          offers.push(performance.now())
          return '421 4.7.0 [TSS04] Messages temporarily deferred due to unexpected volume or user complaints'
        },
      },
      'throttling.example',
    )
    const other = await internet.host(
      t,
      { dot: () => new Promise((resolve) => setTimeout(resolve, 40, undefined)) },
      'other.example',
    )
    for (let more = 1; more < WORKERS; more++) await keep(t, 'delivery', service.env)
    const base = `http://127.0.0.1:${service.config.apiPort}`
    const send = async (count: number, domains: readonly string[]): Promise<void> => {
      for (let sent = 0; sent < count; sent += PER_CALL) {
        const personalizations = Array.from({ length: PER_CALL }, (_, at) => ({
          recipient: `r${sent + at}@${domains[at % domains.length]}`,
        }))
        const { status } = await sendV2(base, sender.apiKey, v2Body(sender, { personalizations }))
        if (status !== 200) throw new Error(`not accepted: ${status}`)
      }
    }
    const elsewhere = [internet.domain([other])]
    const took = async (expected: number, began: number): Promise<number> => {
      await until('the mail of the other provider', () => other.messages.length === expected || undefined, 90_000)
      return performance.now() - began
    }
    let began = performance.now()
    await send(OTHERS, elsewhere)
    const alone = await took(OTHERS, began)

    const domains = Array.from({ length: 50 }, () => internet.domain([throttling]))
    await send(THROTTLED, domains)
    began = performance.now()
    await send(OTHERS, elsewhere)
    const beside = await took(2 * OTHERS, began)
    await until('all mail of the throttling provider to wait', async () => {
      const [row] = await service.sql`select count(*)::int from delivery_queue where place = 'throttling'`
      return (row?.count as number) + offers.length >= THROTTLED || undefined
    })
    const second = offers[1] as number
    const after = offers.slice(2)
    const last = after.at(-1) ?? second
    t.comment(
      `${after.length} offers after the second refusal, the last ${Math.round(last - second)} ms later; ${OTHERS} deliveries elsewhere took ${Math.round(beside)} ms, ${Math.round(alone)} ms alone`,
    )
    t.ok(after.length <= 25, `${after.length} offers after the second refusal`)
    t.ok(last - second <= 2000, `the last one ${Math.round(last - second)} ms later`)
    t.ok(
      alone / beside >= 0.8,
      `${(alone / beside).toFixed(2)} of the rate alone; measured on an idle machine it is 0.95 or more`,
    )
    // Probes come every five minutes, and are not repeated within them.
    await internet.advance(6)
    await until('a probe', () => offers.length > after.length + 2 || undefined)
    await new Promise((resolve) => setTimeout(resolve, 3000))
    t.equal(offers.length, after.length + 3, 'one probe of all workers')
  },
)
