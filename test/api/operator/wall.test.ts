import { OPERATOR_OPERATIONS } from '@postrider/api'
import t from 'tap'
import { firstUser } from '../../core/people/people.ts'
import { ask, makeOperator } from './operator.ts'

/** The ids of what earlier calls made. */
interface Made {
  readonly account: number
  plan?: number
  deletion?: number
}

type Call = (made: Made) => readonly [path: string, body?: Record<string, unknown>]

/** A call of each operation that succeeds, after those of the operations before it. */
const CALLS: Readonly<Record<string, Call>> = {
  getQueues: () => ['/queues'],
  getPlace: () => ['/queues/google'],
  pausePlace: () => ['/queues/google/pause', { reason: 'asked' }],
  resumePlace: () => ['/queues/google/resume', {}],
  listOverrides: () => ['/overrides'],
  listProviders: () => ['/providers'],
  createPlan: () => ['/plans', { action: 'hold', all: true }],
  confirmPlan: ({ plan }) => [`/plans/${plan}/confirm`, { action: 'hold' }],
  listJobs: () => ['/jobs'],
  getJob: ({ plan }) => [`/jobs/${plan}`],
  stopJob: ({ plan }) => [`/jobs/${plan}/stop`, {}],
  listHolds: () => ['/holds'],
  getStanding: ({ account }) => [`/accounts/${account}/standing`],
  setAccountRules: ({ account }) => [`/accounts/${account}/rules`, { rules: 'standard' }],
  renameAccount: ({ account }) => [`/accounts/${account}/rename`, { name: 'Harbor Shipping' }],
  holdAccount: ({ account }) => [`/accounts/${account}/hold`, { reason: 'asked', class: 'bulk' }],
  releaseAccount: ({ account }) => [`/accounts/${account}/release`, {}],
  planDeletion: ({ account }) => [`/accounts/${account}/deletion`, { graceDays: 7 }],
  confirmDeletion: ({ deletion }) => [`/deletions/${deletion}/confirm`, {}],
  restoreAccount: ({ account }) => [`/accounts/${account}/restore`, {}],
  listDeletions: () => ['/deletions'],
  getClock: () => ['/clock'],
  moveClock: () => ['/clock', { speed: 1 }],
}

t.test('each operation has its place here', async (t) => {
  t.strictSame(Object.keys(CALLS), [...OPERATOR_OPERATIONS.map(({ name }) => name)], 'add a call that succeeds')
})

t.test('each operation is refused to everybody but the operator, by the call that succeeds for them', async (t) => {
  const { call, url, sender, service, fill } = await makeOperator(t, { WRONG_KEYS_PER_MINUTE: '1000' })
  await fill(12, { place: "'google'" })
  const { token } = await firstUser(service)
  const state = () => service.sql`
    select (select count(*)::int from audit_log) as entries, (select count(*)::int from queue_jobs) as jobs,
           (select count(*)::int from limit_overrides) as overrides, (select count(*)::int from account_holds) as holds`
  const visitors: Readonly<Record<string, Record<string, string>>> = {
    nobody: {},
    'a wrong key': { authorization: 'Bearer pr_nonsense' },
    'a key of an account, with all rights': { authorization: `Bearer ${sender.apiKey}` },
    'a key in the header of v2': { api_key: sender.apiKey },
    'a user who operates the installation, by session': { cookie: `postrider=${encodeURIComponent(token)}` },
  }
  const made: Made = { account: sender.accountId }
  for (const { name, method } of OPERATOR_OPERATIONS) {
    const [path, body] = (CALLS[name] as Call)(made)
    const before = await state()
    for (const [who, headers] of Object.entries(visitors)) {
      const { status, headers: received } = await ask(`${url}/operator/v1${path}`, { method, body, headers })
      t.equal(status, 401, `${name} as ${who}`)
      t.equal(received.get('www-authenticate'), 'Bearer')
    }
    t.strictSame(await state(), before, name)
    const answer = await call(path, { method, body })
    t.ok(answer.status < 300, `${name} as the operator: ${answer.status} ${answer.text}`)
    if (name === 'createPlan') made.plan = answer.body.id
    if (name === 'planDeletion') made.deletion = answer.body.id
  }
})
