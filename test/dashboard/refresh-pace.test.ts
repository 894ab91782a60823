import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createRefreshPace } from '../../packages/dashboard/src/live/refresh-pace.ts'
import { until } from '../helpers/until.ts'

t.test('pages are notified of changes in turn, and each waits until it is', async (t) => {
  const pace = createRefreshPace()
  const told: number[] = []
  const pages = Array.from({ length: 30 }, (_, n) => () => void told.push(n))
  for (const page of pages) pace.tellSoon(page)
  t.ok(pages.every(pace.isWaiting))
  await until('the first to be told', () => told.length > 0)
  t.ok(told.length < 30, 'not all at once')
  t.notOk(pace.isWaiting(pages[0] as () => void))
  t.ok(pace.isWaiting(pages[29] as () => void))
  pace.forget(pages[29] as () => void)
  await until('the others to be told', () => told.length === 29)
  await sleep(200)
  t.strictSame(
    told,
    Array.from({ length: 29 }, (_, n) => n),
  )
})

t.test('a page that was told is told again of a later change, but not at once', async (t) => {
  const pace = createRefreshPace()
  const times: number[] = []
  const page = () => void times.push(performance.now())
  pace.tellSoon(page)
  await until('the first change to be told', () => times.length === 1)
  pace.tellSoon(page)
  pace.tellSoon(page)
  t.ok(pace.isWaiting(page))
  await until('the second one to be told', () => times.length === 2)
  t.ok((times[1] as number) - (times[0] as number) >= 700)
})
