import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { acceptMessage } from '../core/submission.ts'
import { moveClock } from '../helpers/database.ts'
import { numberEvents } from '../helpers/number-events.ts'
import { startProcess } from '../helpers/processes.ts'
import { makeService, type Sender, type TestService } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'

const EVENTS = 200_000
const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
const OPERATOR = { keyId: null, address: null }

async function fill({ sql, core }: TestService, sender: Sender, count: number): Promise<void> {
  const { messageId } = await acceptMessage({ sql, core } as TestService, sender, {})
  for (let begun = 0; begun < count; begun += 20_000) {
    await sql`
      insert into events (occurred_at, account_id, type, message_id, recipient_no, detail)
      select ${`${yesterday}T10:00:00Z`}::text::timestamptz + n * interval '1 millisecond', ${sender.accountId},
             case n % 4 when 0 then 'sent' when 1 then 'opened' when 2 then 'clicked' else 'deferred' end, ${messageId}::uuid, 0,
             jsonb_build_object('reply', '250 2.0.0 Ok: queued as ' || md5(n::text))
        from generate_series(${begun}::int, ${Math.min(begun + 20_000, count) - 1}::int) n`
  }
  await numberEvents({ sql, core })
}

function ask({ core }: TestService, sender: Sender, format: 'json' | 'csv') {
  const wanted = { startDate: yesterday, endDate: yesterday, events: [], callbackUrl: undefined, format } as const
  return core.exports.create(sender.accountId, { ...wanted, email: `desk@${sender.domain}` }, OPERATOR)
}

/** Each row's number in the account's sequence, in the order of the file, read as it comes. */
async function numbersIn(service: TestService, sender: Sender, id: string, numberOf: (line: string) => number) {
  const { content } = await service.core.exports.file(sender.accountId, id)
  const numbers: number[] = []
  for await (const line of createInterface({ input: Readable.from(content, { objectMode: false }) })) {
    numbers.push(numberOf(line))
  }
  return numbers
}

const ofJson = (line: string): number => Number((JSON.parse(line) as { NUMBER: number }).NUMBER)
const ofCsv = (line: string): number => Number(line.slice(line.lastIndexOf(',') + 1))

/** What the events say themselves. */
async function wantedNumbers(service: TestService, { accountId }: Sender): Promise<number[]> {
  const numbers: number[] = []
  for (let after = 0; ; ) {
    const page = await service.core.events.read({ accountId, after, limit: 5000 })
    if (page.next === after) return numbers
    const wanted = page.events.filter(
      ({ type, occurredAt }) =>
        type !== 'deferred' && type !== 'domain' && occurredAt.toISOString().startsWith(yesterday),
    )
    numbers.push(...wanted.map(({ number }) => number))
    after = page.next
  }
}

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

t.test('a worker that is killed while it exports leaves the rest to the next one, and no row twice', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  await fill(service, sender, 40_000)
  const jobs = [
    [await ask(service, sender, 'json'), ofJson],
    [await ask(service, sender, 'csv'), ofCsv],
  ] as const
  let clock = 0
  let kills = 0
  const states = () => service.sql<{ state: string; parts: number }[]>`select state, parts from export_jobs order by id`
  const allDone = async () => (await states()).every(({ state }) => state === 'done')
  // Two at a time; one of them is killed as soon as a part more is there.
  const worker = await startProcess(t, 'delivery', service.env)
  while (!(await allDone()) && kills < 4) {
    const partsOf = async () => (await states()).reduce((sum, { parts }) => sum + parts, 0)
    const before = await partsOf()
    const victim = kills === 0 ? worker : await startProcess(t, 'delivery', service.env)
    await until('another part', async () => (await partsOf()) > before || (await allDone()), 30_000)
    victim.kill()
    await victim.exited
    kills++
    // What it had in hand is another one's after half a minute.
    clock += 31
    await moveClock(service.sql, `${clock} seconds`)
  }
  await startProcess(t, 'delivery', service.env)
  await until('the files', allDone, 40_000)
  t.ok(kills >= 3, `${kills} kills`)
  const wanted = await wantedNumbers(service, sender)
  t.equal(wanted.length, 30_000)
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

t.test('when a person is forgotten, finished files go and one under way is begun anew without him', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  await fill(service, sender, 9000)
  const finished = await ask(service, sender, 'csv')
  while (await service.core.exports.workSome());
  const running = await ask(service, sender, 'json')
  await service.core.exports.workSome()
  t.match(await service.core.exports.show(sender.accountId, running.id), { state: /running|done/ })
  await service.sql`update export_jobs set state = 'running' where id = ${running.id.slice(4)}`
  await service.sql`delete from delivery_queue`
  await service.sql`
    insert into finished_deliveries (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind,
           attempt, finished_at)
    select message_id, 0, account_id, 'delivered', 'lena@harbor.example', 'lena@harbor.example', 'harbor.example', 'to', 1,
           service_now() from (select distinct message_id, account_id from events where recipient_no = 0) one`
  const { id: requestId } = await service.core.privacy.forget(sender.accountId, ['lena@harbor.example'])
  await until('the person to be forgotten', async () => {
    await service.core.privacy.forgetSome()
    return (await service.core.privacy.request(sender.accountId, requestId)).state === 'done'
  })
  await t.rejects(service.core.exports.show(sender.accountId, finished.id), /Invalid jobId/)
  while (await service.core.exports.workSome());
  let text = ''
  for await (const part of (await service.core.exports.file(sender.accountId, running.id)).content) text += part
  t.notOk(text.includes('lena@'))
  t.match(text, /"EMAIL":"forgotten-[0-9a-f]{20}"/)
  t.equal(text.split('\n').length - 1, 6750)
})
