import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@postrider/cli/embedded-postgres'
import t from 'tap'
import { makeTemplateDatabase } from '../helpers/database.ts'
import { freezePostgres } from '../helpers/frozen-postgres.ts'
import { keep } from '../helpers/keeper.ts'
import { type Answer, figures, Ledger } from '../helpers/ledger.ts'
import { isInTime } from '../helpers/pace.ts'
import { makeService } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'

/** Milliseconds the database stands still each time: shorter than clients' patience, longer than ours, and for long. */
const FREEZES = [4000, 14_000, 40_000]

t.test(
  'while the database is frozen calls are refused in time and nothing is lost, and work resumes when it thaws',
  { timeout: 600_000 },
  async (t) => {
    const dataDir = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'frozen-'))
    const server = await startEmbeddedPostgres({ dataDir })
    t.teardown(() => server.stop())
    await makeTemplateDatabase(server.url)
    const sink = await startSink(t)
    const service = await makeService(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` }, server.url)
    const ledger = new Ledger(service, await service.makeSender())
    const keepers = await Promise.all((['api', 'relay', 'delivery'] as const).map((name) => keep(t, name, service.env)))
    const load = ledger.load(8)
    await until('load', () => ledger.acknowledged.size > 100)
    const ready = () => fetch(`http://127.0.0.1:${service.config.apiPort}/health/ready`).then(({ status }) => status)

    const turned: number[] = []
    const resumed: number[] = []
    const late: string[] = []
    for (const milliseconds of FREEZES) {
      await until('ready', async () => (await ready()) === 200, 30_000)
      const thaw = freezePostgres(t, dataDir)
      const frozenAt = performance.now()
      await until('503', async () => (await ready()) === 503, milliseconds + 1000).then(
        () => turned.push((performance.now() - frozenAt) / 1000),
        () => turned.push(Number.POSITIVE_INFINITY),
      )
      if (!isInTime(frozenAt, 3500)) late.push(`readiness after ${milliseconds} ms`)
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, frozenAt + milliseconds - performance.now())))
      thaw()
      const before = new Set(ledger.acknowledged)
      const thawedAt = performance.now()
      const fresh = (door: string) => [...ledger.acknowledged].some((one) => one.startsWith(door) && !before.has(one))
      await until('both doors', () => fresh('http') && fresh('smtp'), 120_000)
      resumed.push((performance.now() - thawedAt) / 1000)
      if (!isInTime(thawedAt, 15_000)) late.push(`work after ${milliseconds} ms`)
      await new Promise((resolve) => setTimeout(resolve, 3000))
    }
    await load.stop()
    await ledger.drain(120_000)
    const evaluated = await ledger.evaluate(sink)
    const longest = longestOf(ledger.answers)
    const beyond = ledger.answers.filter(({ milliseconds }) => milliseconds > 10_000).length
    const frozen = FREEZES.map((ms) => ms / 1000).join(', ')
    t.comment(
      `figures: frozen ${frozen} s: not ready after ${list(turned)} s, resumed after ${list(resumed)} s, longest call ${longest.toFixed(1)} s, ` +
        `codes ${codes(ledger.answers)}; ${figures(evaluated)}`,
    )
    t.strictSame(late, [], 'readiness turns within 3 s, and work resumes within 15 s')
    t.ok(beyond <= 8 * FREEZES.length, 'only what was being written is answered later, with its outcome')
    t.strictSame(evaluated.lost, [], 'nothing acknowledged is lost')
    t.strictSame(evaluated.contradicted, [], 'nothing refused is stored')
    t.strictSame(evaluated.unmarked, [], 'each extra copy is marked indeterminate')
    t.strictSame(evaluated.unfinished, [], 'every delivery has a final state')
    t.notOk(
      ledger.answers.some(({ code }) => code === 500),
      'a frozen database is nobody’s fault',
    )
    for (const keeper of keepers) await keeper.stop()
  },
)

function longestOf(answers: readonly Answer[]): number {
  return Math.max(...answers.map(({ milliseconds }) => milliseconds)) / 1000
}

function codes(answers: readonly Answer[]): string {
  const counts = new Map<number, number>()
  for (const { code } of answers) counts.set(code, (counts.get(code) ?? 0) + 1)
  return [...counts].map(([code, count]) => `${code}×${count}`).join(' ')
}

function list(seconds: readonly number[]): string {
  return seconds.map((one) => one.toFixed(1)).join(', ')
}
