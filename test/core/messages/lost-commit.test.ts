import type { Sql } from '@postrider/core'
import { createCore, createLog } from '@postrider/core'
import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { acceptMessage, envelopeTo, submissionOf } from '../submission.ts'

/** A pool whose second commit of accepts happens, while its answer is lost with the connection. */
function losingSecondAnswer(pool: Sql): Sql {
  let commits = 0
  const losing = (sql: Sql): Sql =>
    new Proxy(sql, {
      get(target, name) {
        const value = Reflect.get(target, name)
        return name === 'within' ? (milliseconds: number) => losing(value(milliseconds)) : value
      },
      apply(target, self, args: unknown[]) {
        const query = Reflect.apply(target as unknown as () => PromiseLike<unknown>, self, args)
        if (!String(args[0]).includes('insert into idempotency_keys') || ++commits !== 2) return query
        const gone = Object.assign(new Error('the connection was lost'), { code: 'CONNECTION_CLOSED' })
        return Promise.resolve(query).then(() => Promise.reject(gone))
      },
    })
  return losing(pool)
}

t.test(
  'when the response to a commit is lost, each of its messages gets the response of what was stored',
  async (t) => {
    const service = await makeService(t)
    const sender = await service.makeSender()
    const envelopes = [envelopeTo('lena@harbor.example')]
    await acceptMessage(service, sender, { envelopes, idempotencyKey: 'k', fingerprint: Buffer.alloc(32, 1) })
    const core = createCore({
      sql: losingSecondAnswer(service.sql),
      config: service.config,
      log: createLog('test', 'silent'),
    })
    await core.readiness.check()
    t.teardown(() => core.readiness.close())
    // While the first commits, the others gather for the second.
    const submissions = await Promise.all([
      submissionOf(service, sender, { envelopes }),
      submissionOf(service, sender, { envelopes }),
      submissionOf(service, sender, { envelopes, idempotencyKey: 'k', fingerprint: Buffer.alloc(32, 2) }),
    ])
    const [, plain, conflicting] = await Promise.allSettled(
      submissions.map((submission) => core.messages.accept(submission)),
    )
    t.equal(plain?.status, 'fulfilled')
    t.match(conflicting, { status: 'rejected', reason: { errorName: 'idempotencyConflict' } })
    const [row] = await service.sql`select count(*)::int as count from messages`
    t.equal(row?.count, 3, 'the first under the key, and the two without')
  },
)
