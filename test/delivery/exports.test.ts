import { createLog } from '@postrider/core'
import t from 'tap'
import { runExportLoops } from '../../packages/delivery/src/loops/export-loops.ts'
import { moveClock } from '../helpers/database.ts'
import { erase } from '../helpers/erase.ts'
import { startProcess } from '../helpers/processes.ts'
import { startReceiver } from '../helpers/receiver.ts'
import { makeService } from '../helpers/service.ts'
import { killWithSessions } from '../helpers/sessions.ts'
import { until } from '../helpers/until.ts'
import { ask, fill, numbersIn, ofCsv, ofJson, wantedNumbers } from './export-files.ts'

t.test('a worker that is killed while it exports leaves the rest to the next one, and no row twice', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  await fill(service, sender, 25_000)
  const jobs: (readonly [Awaited<ReturnType<typeof ask>>, (line: string) => number])[] = []
  const askForBoth = async () => {
    jobs.push([await ask(service, sender, 'json'), ofJson], [await ask(service, sender, 'csv'), ofCsv])
  }
  await askForBoth()
  let clock = 0
  let kills = 0
  const states = () => service.sql<{ state: string; parts: number }[]>`select state, parts from export_jobs order by id`
  const allDone = async () => (await states()).every(({ state }) => state === 'done')
  const partsOf = async () => (await states()).reduce((sum, { parts }) => sum + parts, 0)
  // One that had finished everything when it was killed was not killed while it exported; there is more to do for the next.
  for (let workers = 0; kills < 3 && workers < 12; workers++) {
    if (await allDone()) await askForBoth()
    const before = await partsOf()
    const victim = await startProcess(t, 'delivery', service.env)
    await until('another part', async () => (await partsOf()) > before || (await allDone()), 30_000)
    await killWithSessions(service.sql, victim)
    if (!(await allDone())) kills++
    // What it had in hand is another one's after half a minute.
    clock += 31
    await moveClock(service.sql, `${clock} seconds`)
  }
  await startProcess(t, 'delivery', service.env)
  await until('the files', allDone, 25_000)
  t.equal(kills, 3)
  const wanted = await wantedNumbers(service, sender)
  t.equal(wanted.length, 18_750)
  for (const [{ id, format }, numberOf] of jobs) {
    const numbers = await numbersIn(service, sender, id, numberOf)
    t.strictSame(format === 'csv' ? numbers.slice(1) : numbers, wanted, format)
  }
})

t.test('many workers at one job write each row once, and one that was too slow stores nothing', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  await fill(service, sender, 20_000)
  const { id } = await ask(service, sender, 'json')
  let seconds = 0
  const done = async () => (await service.core.exports.show(sender.accountId, id)).state === 'done'
  while (!(await done())) {
    // All take the same step: the clock says that the one before has lost it.
    const acts: Promise<boolean>[] = []
    for (let worker = 0; worker < 3; worker++) {
      seconds += 31
      await moveClock(service.sql, `${seconds} seconds`)
      acts.push(service.core.exports.workSome())
    }
    await Promise.all(acts)
  }
  t.strictSame(await numbersIn(service, sender, id, ofJson), await wantedNumbers(service, sender))
})

t.test(
  'when a recipient is erased, finished files are deleted and one under way is started again without them',
  async (t) => {
    const service = await makeService(t)
    const sender = await service.makeSender()
    await fill(service, sender, 9000)
    const finished = await ask(service, sender, 'csv')
    while (await service.core.exports.workSome());
    const running = await ask(service, sender, 'json')
    await service.core.exports.workSome()
    t.match(await service.core.exports.show(sender.accountId, running.id), { state: /running|done/ })
    await service.sql`update export_jobs set state = 'running' where public_id = ${running.id.slice(4)}::text::uuid`
    await service.sql`delete from delivery_queue`
    await service.sql`
    insert into finished_deliveries (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind,
           attempt, finished_at)
    select message_id, 0, account_id, 'delivered', 'lena@harbor.example', 'lena@harbor.example', 'harbor.example', 'to', 1,
           service_now() from (select distinct message_id, account_id from events where recipient_no = 0) one`
    await erase(service.core, sender.accountId, ['lena@harbor.example'])
    await t.rejects(service.core.exports.show(sender.accountId, finished.id), /Invalid jobId/)
    while (await service.core.exports.workSome());
    let text = ''
    for await (const part of (await service.core.exports.file(sender.accountId, running.id)).content) text += part
    t.notOk(text.includes('lena@'))
    t.match(text, /"EMAIL":"forgotten-[0-9a-f]{20}"/)
    t.equal(text.split('\n').length - 1, 6750)
  },
)

t.test('callbacks that never answer delay no others', async (t) => {
  const service = await makeService(t, { WEBHOOK_PRIVATE_NETWORKS: 'allow' })
  const [hanging, other] = [await service.makeSender(), await service.makeSender()]
  const receiver = await startReceiver(t, ({ method, path }, response) => {
    if (method === 'HEAD' || path === '/hook') response.end('ok')
  })
  const day = new Date().toISOString().slice(0, 10)
  const create = ({ accountId }: typeof other, callbackUrl: string) =>
    service.core.exports.create(
      accountId,
      { startDate: day, endDate: day, events: [], format: 'json', email: undefined, callbackUrl },
      { keyId: null, address: null },
    )
  for (let count = 0; count < 4; count++) await create(hanging, receiver.url.replace('/hook', '/hang'))
  await create(other, receiver.url)
  while (await service.core.exports.workSome());
  const loops = runExportLoops({ core: service.core, log: createLog('test', 'silent') })
  const told = () => receiver.requests.some(({ method, path }) => method === 'POST' && path === '/hook')
  await until('the other to be told', told, 5000).finally(() => Promise.all(loops.map((loop) => loop.stop())))
})
