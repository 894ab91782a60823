import { OPERATOR_OPERATIONS } from '@postrider/api'
import { asSchema } from '../../../packages/api/src/docs/fields.ts'
import { sampleOf } from '../../../packages/api/src/docs/samples.ts'
import { fillQueue } from '../../core/delivery/filled-queue.ts'
import { JSON_TYPE } from '../call.ts'
import { calledBy } from './called.ts'
import { NOW } from './normalize.ts'
import type { Recorder } from './recorder.ts'
import type { World } from './world.ts'

type Fields = Record<string, unknown>

/** All operations of the operator's interface, with a queue of twelve deliveries. What the calls of other parts left in it is deleted. */
export async function recordOperator(recorder: Recorder, world: World): Promise<void> {
  const { core, sql } = world.service
  await sql`delete from delivery_queue`
  const { accountId: account } = await world.makeOwner('operator-calls')
  await fillQueue(sql, {
    accountIds: [account],
    count: 12,
    columns: { place: "case when n % 3 > 0 then 'google' end", recipient_domain: "'harbor.example'" },
  })
  const { secret } = await core.auth.createOperatorKey({ name: 'night shift' })
  const ask = async (title: string, route: string, body?: Fields) => {
    const [method = '', path = ''] = route.split(' ')
    const headers = { authorization: `Bearer ${secret}`, ...(body ? JSON_TYPE : {}) }
    const options = { method, path: `/operator/v1${path}`, headers, ...(body ? { body } : {}) }
    return (await recorder.ask(title, options)).json ?? {}
  }
  const refused = {
    place: 'google',
    class: 'spam',
    permanent: 8,
    forNow: 0,
    reply: '550 5.7.1 Our system has detected unsolicited mail',
  } as const
  await core.deliveries.limits.countRefusals([refused])
  await recorder.ask('getQueues without a key', { method: 'GET', path: '/operator/v1/queues' })
  await ask('getQueues', 'GET /queues')
  for (const by of ['account', 'class', 'domain', 'source']) await ask(`getQueues by ${by}`, `GET /queues?by=${by}`)
  await ask('pausePlace', 'POST /queues/google/pause', { reason: 'Requested by the provider', for: '2h' })
  await ask('pausePlace of an account', 'POST /queues/google/pause', { reason: 'Too much at once', for: '2h', account })
  await ask('listOverrides', 'GET /overrides')
  await ask('getPlace', 'GET /queues/google')
  await ask('resumePlace', 'POST /queues/google/resume', {})
  await ask('resumePlace of an account', 'POST /queues/google/resume', { account })
  await ask('listProviders', 'GET /providers')

  const { id } = await ask('createPlan', 'POST /plans', { action: 'hold', place: 'google' })
  await ask('confirmPlan', `POST /plans/${id}/confirm`, { action: 'hold' })
  while (await core.queue.workSome());
  const { id: other } = await ask('createPlan of requeue', 'POST /plans', { action: 'requeue', since: '2h' })
  await ask('confirmPlan of nothing', `POST /plans/${other}/confirm`, { action: 'requeue' })
  const { id: third } = await ask('createPlan of release', 'POST /plans', { action: 'release', account })
  await ask('confirmPlan of release', `POST /plans/${third}/confirm`, { action: 'release' })
  await ask('stopJob', `POST /jobs/${third}/stop`, {})
  await ask('getJob', `GET /jobs/${id}`)
  await ask('listJobs', 'GET /jobs')

  const path = `/accounts/${account}`
  await ask('setAccountRules', `POST ${path}/rules`, { rules: 'standard' })
  await ask('holdAccount', `POST ${path}/hold`, { reason: 'Asked for its source of addresses', class: 'bulk' })
  await ask('listHolds', 'GET /holds')
  await ask('getStanding', `GET ${path}/standing`)
  await ask('releaseAccount', `POST ${path}/release`, {})

  await ask('renameAccount', `POST ${path}/rename`, { name: 'Harbor Shipping' })
  const { id: deletion } = await ask('planDeletion', `POST ${path}/deletion`, { graceDays: 7 })
  await ask('confirmDeletion', `POST /deletions/${deletion}/confirm`, {})
  await ask('listDeletions', 'GET /deletions')
  await ask('restoreAccount', `POST ${path}/restore`, {})

  await ask('moveClock', 'POST /clock', { to: new Date(NOW.getTime() + 30 * 86_400_000).toISOString() })

  // The operations that nothing above calls, with what the documentation shows of them.
  const ids: Fields = { place: 'google', jobs: id, plans: id, accounts: account }
  for (const { name, method, path, input } of OPERATOR_OPERATIONS) {
    if (calledBy(recorder.calls).has(`operator ${name}`)) continue
    const filled = path.replace(
      /(\w+)\/:(\w+)/g,
      (_, kind: string, name: string) => `${kind}/${ids[kind] ?? ids[name]}`,
    )
    const body = method === 'GET' ? undefined : (sampleOf(asSchema(input)) as Fields)
    await ask(name, `${method} ${filled}`, body)
  }
}
