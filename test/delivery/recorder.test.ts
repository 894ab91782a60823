import { createLog, type Result } from '@postrider/core'
import t, { type Test } from 'tap'
import { createRecorder } from '../../packages/delivery/src/queue/recorder.ts'
import { BOUNCED, DELIVERED, makeQueue, openCore, recipients } from '../core/delivery/queue-of.ts'
import { until } from '../helpers/until.ts'

/** A recorder, and results for all deliveries of one message. */
async function makeResults(t: Test, count: number) {
  const queue = await makeQueue(t)
  const messageId = await queue.accept(recipients(count))
  const workerId = await queue.register()
  const claimed = (await queue.claimAll(workerId)).sort((a, b) => a.recipientNo - b.recipientNo)
  const results = claimed.map(
    ({ recipientNo, attempt }): Result => ({ messageId, recipientNo, attempt, workerId, outcome: DELIVERED }),
  )
  const recorder = createRecorder({ core: openCore(t, queue.service, 4), log: createLog('test', 'silent') })
  const states = async () => (await queue.core.messages.show(messageId))?.deliveries.map(({ state }) => state)
  return { ...queue, workerId, results, recorder, states }
}

t.test('one result the database cannot take does not take the others of its batch with it', async (t) => {
  const { results, recorder, states } = await makeResults(t, 7)
  const reply = { code: 99_999, enhanced: '', text: 'beyond any code' }
  const batch = results.map((result, at) =>
    at === 3 ? { ...result, outcome: { ...BOUNCED, reply } as never } : result,
  )
  const answers = await Promise.allSettled(batch.map((result) => recorder.record(result, { isPrompt: false })))
  t.strictSame(
    answers.map(({ status }) => status),
    batch.map((_result, at) => (at === 3 ? 'rejected' : 'fulfilled')),
  )
  t.strictSame(
    await states(),
    batch.map((_result, at) => (at === 3 ? 'sending' : 'delivered')),
  )
  t.equal(recorder.pending, 0)
})

/** What a database says that can't do it now and will do it later. */
const PASSING: Readonly<Record<string, string>> = {
  53100: 'has no room on its disk',
  53200: 'has no memory left',
  53300: 'has no connection left',
  '57014': 'cancels the statement, since it takes too long',
  '57P01': 'shuts down',
  '40P01': 'finds a deadlock',
  '40001': 'finds a conflict of transactions',
  '55P03': 'does not get a lock',
  '58030': 'can not read its disk',
}

for (const [code, what] of Object.entries(PASSING)) {
  t.test(`while the database ${what} (${code}), results wait, and are recorded once it can`, async (t) => {
    const { service, results, recorder, states } = await makeResults(t, 3)
    await service.sql.unsafe(`
      create function refuse() returns trigger language plpgsql as
        $$ begin perform nextval('refusals'); raise exception 'not now' using errcode = '${code}'; end $$;
      create sequence refusals;
      create trigger refuse before insert on attempts for each row execute function refuse()`)
    const answers = Promise.allSettled(results.map((result) => recorder.record(result, { isPrompt: false })))
    const refused = async () => (await service.sql<{ n: string }[]>`select last_value as n from refusals`)[0]?.n
    await until('the result to be refused more than once', async () => Number(await refused()) > 1)
    t.strictSame(await states(), ['sending', 'sending', 'sending'])
    // Dropping the trigger would lock tables in another order than the results do.
    await service.sql.unsafe(
      'create or replace function refuse() returns trigger language plpgsql as $$ begin return new; end $$',
    )
    t.strictSame(
      (await answers).map((answer) => answer.status === 'fulfilled' && answer.value),
      [true, true, true],
    )
    t.strictSame(await states(), ['delivered', 'delivered', 'delivered'])
  })
}
