import t from 'tap'
import { postrider } from './postrider.ts'

const ENV = { DATABASE_URL: '', DATA_DIR: t.testdir(), EVENT_DAYS: '90', BODY_DAYS: '30' }

t.test('a plan says what an amount of mail needs, without a database', async (t) => {
  const { code, stdout } = await postrider(ENV, 'plan', '--per-day', '10M', '--size', '10k', '--json')
  t.equal(code, 0)
  const plan = JSON.parse(stdout)
  t.equal(Math.round(plan.perSecond), 579)
  t.match(plan.processes, { api: 2, relay: 2, delivery: 2 })
  t.equal(plan.connections, 2 * (14 + 11 + 10))
  t.equal(plan.disk.rows, 10e6 * 90 * 1500)
  t.equal(plan.bound, undefined)
  const text = (await postrider(ENV, 'plan', '--per-day', '10m', '--size', '10000', '--peak', '5')).stdout
  t.match(text, /rows of 90 days +1\.4 TB/)
  t.match(text, /One database server is enough/)
})

t.test('more mail needs more, and the plan says what is exhausted first', async (t) => {
  const of = async (...args: string[]) => JSON.parse((await postrider(ENV, 'plan', ...args, '--json')).stdout)
  const large = await of('--per-day', '200M', '--size', '100k')
  t.equal(large.bound, 'disk')
  t.ok(large.processes.delivery > large.processes.relay)
  const few = await postrider({ ...ENV, BODY_DAYS: '7', EVENT_DAYS: '7' }, 'plan', '--per-day', '200M', '--size', '1k')
  t.match(few.stdout, /bodies of 7 days/)
})

t.test('a wrong amount is refused by name', async (t) => {
  for (const [option, wrong] of [
    ['per-day', 'ten'],
    ['per-day', '0'],
    ['per-day', '-1M'],
    ['size', '51M'],
    ['size', '1e3'],
    ['peak', '0.5'],
  ] as const) {
    const given = { 'per-day': '1M', size: '10k', peak: '5', [option]: wrong }
    const args = Object.entries(given).flatMap(([name, value]) => [`--${name}=${value}`])
    t.match(
      await postrider(ENV, 'plan', ...args),
      { code: 2, stderr: new RegExp(`--${option} must be a number`) },
      wrong,
    )
  }
})
