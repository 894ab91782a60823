import { randomBytes } from 'node:crypto'
import { createCore, createLog } from '@postrider/core'
import t from 'tap'
import { makeService, type Sender, type TestService } from '../../helpers/service.ts'
import { until } from '../../helpers/until.ts'
import { acceptMessage, envelopeTo, submissionOf } from '../submission.ts'

const MIB = 1024 * 1024
/** Seconds that a body of more than a megabyte takes the database, as on a busy disk. */
const SLOW = 3

/** A service whose database is slow to write large bodies. */
async function makeSlow(): Promise<TestService> {
  const service = await makeService(t)
  await service.sql.unsafe(`
    create function sleep_before_large() returns trigger language plpgsql as $$
      begin perform pg_sleep(${SLOW}); return new; end $$;
    create trigger slow before insert on bodies for each row when (octet_length(new.content) > ${MIB})
      execute function sleep_before_large()`)
  return service
}

function largeFrom(service: TestService, sender: Sender, extra: Parameters<typeof submissionOf>[2] = {}) {
  const attachments = [{ fileName: 'chart.bin', content: randomBytes(2 * MIB) }]
  return acceptMessage(service, sender, { attachments, ...extra })
}

async function untilWriting({ sql }: TestService): Promise<void> {
  await until('the large body to be written', async () => {
    const rows = await sql`
      select 1 from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep' and query ~ 'copy bodies'`
    return rows.length > 0
  })
}

/** The names of these, in the order in which they end. */
async function ending(all: Readonly<Record<string, Promise<unknown>>>): Promise<string[]> {
  const ended: string[] = []
  await Promise.all(Object.entries(all).map(([name, one]) => one.then(() => ended.push(name))))
  return ended
}

t.test('other messages are accepted while a large one is being written', async (t) => {
  const service = await makeSlow()
  const [sender, other] = [await service.makeSender(), await service.makeSender()]
  const large = largeFrom(service, sender)
  await untilWriting(service)
  t.strictSame(await ending({ large, small: acceptMessage(service, other) }), ['small', 'large'])
})

t.test(
  'nor does it keep its account’s credits or key from another process, whose messages wait for them',
  async (t) => {
    const service = await makeSlow()
    const [sender, other] = [await service.makeSender(), await service.makeSender()]
    await service.core.credits.limit(sender.accountId, 5)
    const core = createCore({ sql: service.sql, config: service.config, log: createLog('test', 'silent') })
    await core.readiness.check()
    t.teardown(() => core.readiness.close())
    const key = { idempotencyKey: 'k', fingerprint: Buffer.alloc(32, 1) }
    const large = largeFrom(service, sender, key)
    await untilWriting(service)
    const [own, foreign] = [await submissionOf(service, sender), await submissionOf(service, other)]
    const small = core.messages.accept(own)
    const order = await ending({ large, small, other: core.messages.accept(foreign) })
    t.equal(order.at(-1), 'large')
    const again = await largeFrom(service, sender, key)
    t.match(again, { messageId: (await large).messageId, repeated: true })
    const refused = largeFrom(service, sender, {
      envelopes: ['a', 'b', 'c', 'd'].map((name) => envelopeTo(`${name}@harbor.example`)),
    })
    await t.rejects(refused, { message: /^Not enough credits/ })
    const [stored] = await service.sql`
    select count(distinct message_id)::int as bodies, (select count(*)::int from messages) as messages from bodies`
    t.strictSame({ ...stored }, { bodies: 3, messages: 3 }, 'no body is left of what was refused')
  },
)
