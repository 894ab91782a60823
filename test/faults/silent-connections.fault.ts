import t from 'tap'
import { keep } from '../helpers/keeper.ts'
import { figures, Ledger } from '../helpers/ledger.ts'
import { makeService } from '../helpers/service.ts'
import { startSilentProxy } from '../helpers/silent-proxy.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'

/** Milliseconds between two falls of silence, and for how long the last one swallows new connections too. */
const APART = 12_000
const SWALLOWED = 20_000
const SILENCES = Math.max(3, Math.floor(Number(process.env.FAULT_SECONDS ?? 0) / 20))

t.test(
  'connections to the database that go silent without a word cost seconds: nothing is lost, and work resumes within 15 s',
  { timeout: 600_000 },
  async (t) => {
    const sink = await startSink(t)
    const service = await makeService(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
    const proxy = await startSilentProxy(t, service.env.DATABASE_URL as string)
    const env = { ...service.env, DATABASE_URL: proxy.url }
    const ledger = new Ledger(service, await service.makeSender())
    const keepers = await Promise.all((['api', 'relay', 'delivery'] as const).map((name) => keep(t, name, env)))
    const load = ledger.load(8)
    await until('load', () => ledger.acknowledged.size > 100)

    const resumed: number[] = []
    for (let silence = 0; silence < SILENCES; silence++) {
      proxy.silence()
      resumed.push(await secondsUntilAllWork(ledger, sink))
      await new Promise((resolve) => setTimeout(resolve, APART))
    }
    proxy.swallow()
    const ready = () => fetch(`http://127.0.0.1:${service.config.apiPort}/health/ready`).then(({ status }) => status)
    const swallowedAt = performance.now()
    await until('503', async () => (await ready()) === 503, SWALLOWED)
    const notReady = (performance.now() - swallowedAt) / 1000
    await new Promise((resolve) => setTimeout(resolve, SWALLOWED))
    proxy.heal()
    resumed.push(await secondsUntilAllWork(ledger, sink))
    await until('ready', async () => (await ready()) === 200)
    await load.stop()

    await ledger.drain(90_000)
    const evaluated = await ledger.evaluate(sink)
    const beyond = ledger.answers.filter(({ milliseconds }) => milliseconds > 15_000).length
    const longest = Math.max(...ledger.answers.map(({ milliseconds }) => milliseconds)) / 1000
    const starts = keepers.map(({ name, starts }) => `${name} ${starts}`).join(', ')
    t.comment(
      `figures: ${SILENCES} silences, resumed after ${resumed
        .map((seconds) => seconds.toFixed(1))
        .join(
          ', ' + '',
        )} s, not ready after ${notReady.toFixed(1)} s, longest call ${longest.toFixed(1)} s, starts: ${starts}; ${figures(evaluated)}`,
    )
    t.ok(Math.max(...resumed) <= 15, 'work resumes within 15 s')
    t.ok(notReady <= 8, 'a process that can not reach its database says so')
    t.ok(beyond <= 8, 'only what was being written when nothing answered any more is answered later than after 15 s')
    t.strictSame(evaluated.lost, [], 'nothing acknowledged is lost')
    t.strictSame(evaluated.contradicted, [], 'nothing refused is stored')
    t.strictSame(evaluated.unmarked, [], 'each extra copy is marked indeterminate')
    t.strictSame(evaluated.unfinished, [], 'every delivery has a final state')
    t.strictSame(
      [...new Set(ledger.answers.map(({ code }) => code))].filter((code) => ![0, 200, 250, 451, 503].includes(code)),
      [],
      'a database that is away is nobody’s fault',
    )
    for (const keeper of keepers) await keeper.stop()
  },
)

/** Milliseconds in which what was at its final dot when silence fell has arrived. */
const ON_ITS_WAY = 2000

/**
 * Seconds until both doors take mail that was sent since, and mail is delivered again, the oldest first: new mail stands behind what was
 * taken meanwhile.
 */
async function secondsUntilAllWork(
  ledger: Ledger,
  sink: { messages: readonly { at: number; to: readonly string[] }[] },
): Promise<number> {
  const began = performance.now()
  const sent = new Set(ledger.sent)
  const [seen, fell] = [sink.messages.length, Date.now()]
  const works = (door: string) => [...ledger.acknowledged].some((one) => one.startsWith(door) && !sent.has(one))
  await until(
    'work',
    () => works('http') && works('smtp') && sink.messages.slice(seen).some(({ at }) => at > fell + ON_ITS_WAY),
    300_000,
  )
  return (performance.now() - began) / 1000
}
