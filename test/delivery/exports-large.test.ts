import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { ask, fill, numbersIn, ofJson, wantedNumbers } from './export-files.ts'

const EVENTS = 200_000

t.test('200,000 events make a file in many parts, and memory does not grow with it', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  await fill(service, sender, EVENTS)
  const { id } = await ask(service, sender, 'json')
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  let most = 0
  let steps = 0
  const atRest = process.memoryUsage().heapUsed
  while (await service.core.exports.workSome()) {
    steps++
    collect()
    most = Math.max(most, process.memoryUsage().heapUsed - atRest)
  }
  const job = await service.core.exports.show(sender.accountId, id)
  t.match(job, { state: 'done', rows: EVENTS * 0.75 })
  const [parts] = await service.sql`
    select count(*)::int, max(length(content))::int as largest, sum(length(content))::int as octets from export_parts`
  t.ok(parts?.count > 8, `${parts?.count} parts in ${steps} steps, ${parts?.octets} octets`)
  t.ok(parts?.largest < 2 * 1024 * 1024, `the largest has ${parts?.largest} octets`)
  t.ok(most < 64 * 1024 * 1024, `${Math.round(most / 1024 / 1024)} MB on the heap at most`)
  const numbers = await numbersIn(service, sender, id, ofJson)
  t.strictSame(numbers, await wantedNumbers(service, sender), 'each event once, in order')
})
