import t from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { makeService } from '../../helpers/service.ts'

const service = await makeService(t)
const { sources } = service.core
let today = 0
let names = 0

/** A source on a day of the plan standard, with the results of that day. */
async function dayOf(day: number, results: { tried: number; refused?: number; bounced?: number }, isBlocked = false) {
  const name = `mta-${++names}`
  const { id: sourceId } = await sources.add({
    name,
    address: `192.0.2.${names}`,
    helo: `${name}.example.com`,
    warmUpPlan: 'standard',
  })
  const key = { sourceId, provider: 'google' }
  await sources.addResults([{ refused: 0, bounced: 0, ...key, ...results }])
  await service.sql`update source_warm_ups set day = ${day} where source_id = ${sourceId}`
  if (isBlocked) await sources.noteBlocked(key)
  return async () => {
    const source = (await sources.read()).sources.find(({ id }) => id === sourceId)
    return source?.warmUps.find(({ provider }) => provider === 'google')?.day
  }
}

async function nextDay(days = 1): Promise<void> {
  today += days
  await moveClock(service.sql, `${today} days`)
  while ((await sources.advanceWarmUps()) > 0);
}

t.test('a day with half of its messages and few refusals is followed by the next; others are repeated', async (t) => {
  const good = await dayOf(0, { tried: 100, refused: 4, bounced: 4 })
  const little = await dayOf(0, { tried: 99 })
  const refused = await dayOf(5, { tried: 1000, refused: 50 })
  const bounced = await dayOf(5, { tried: 1000, bounced: 50 })
  t.equal(await sources.advanceWarmUps(), 0, 'the day has not ended')
  await nextDay()
  t.strictSame([await good(), await little(), await refused(), await bounced()], [1, 0, 5, 5])
  t.equal(await sources.advanceWarmUps(), 0, 'once per day')
})

t.test('after a block, or if a fifth is refused, it steps back two days, to the first at the least', async (t) => {
  const blocked = await dayOf(10, { tried: 3000 }, true)
  const refused = await dayOf(10, { tried: 3000, refused: 600 })
  const first = await dayOf(1, { tried: 100 }, true)
  const few = await dayOf(3, { tried: 19, refused: 19 })
  await nextDay()
  t.strictSame([await blocked(), await refused(), await first(), await few()], [8, 8, 0, 3])
  await nextDay()
  t.strictSame(await blocked(), 8, 'a block counts once')
})

t.test('after thirty days without mail it steps back seven days; after the last day there is no limit', async (t) => {
  const idle = await dayOf(20, { tried: 10 })
  const last = await dayOf(29, { tried: 3_000_000 })
  await nextDay()
  t.equal(await last(), 30)
  for (let day = 1; day < 30; day++) await nextDay()
  t.equal(await idle(), 13)
})
