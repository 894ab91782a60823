import { confirmProblemText, QUEUE_ACTIONS } from '@postrider/core'
import { Type } from 'typebox'
import { type Operation, operation } from './operation.ts'
import { OperatorRefusal } from './refusal.ts'

const NOTHING = Type.Object({})
const JOB = Type.Object({ id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) })
const ACTION = Type.Enum([...QUEUE_ACTIONS])
const TEXT = Type.Optional(Type.String({ maxLength: 300 }))

export const JOBS: readonly Operation[] = [
  operation({
    name: 'createPlan',
    summary: 'Plan a change of many deliveries. Nothing is changed yet',
    cli: 'queue flush',
    method: 'POST',
    path: '/plans',
    params: NOTHING,
    input: Type.Object({
      action: ACTION,
      place: TEXT,
      domain: TEXT,
      class: TEXT,
      tag: TEXT,
      older: TEXT,
      since: TEXT,
      until: TEXT,
      state: TEXT,
      bounceClass: TEXT,
      to: TEXT,
      account: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
      all: Type.Optional(Type.Boolean()),
    }),
    act: ({ action, ...selectors }, { core }) => core.queue.plan(action, selectors),
  }),
  operation({
    name: 'confirmPlan',
    summary: 'Start the job of a plan',
    cli: 'queue flush',
    method: 'POST',
    path: '/plans/:id/confirm',
    params: JOB,
    input: Type.Object({ action: ACTION }),
    async act({ id, action }, { core, by }) {
      const result = await core.queue.confirm(id, action, by)
      if (!('why' in result)) return result
      const { why } = result
      const code = `plan${why.charAt(0).toUpperCase()}${why.slice(1)}`
      throw new OperatorRefusal(why === 'unknown' ? 404 : 409, code, confirmProblemText(result, id, action))
    },
  }),
  operation({
    name: 'listJobs',
    summary: 'List the jobs',
    cli: 'queue jobs',
    method: 'GET',
    path: '/jobs',
    params: NOTHING,
    input: NOTHING,
    act: (_input, { core }) => core.queue.jobs(),
  }),
  operation({
    name: 'getJob',
    summary: 'Show one job and its progress',
    cli: 'queue jobs',
    method: 'GET',
    path: '/jobs/:id',
    params: JOB,
    input: NOTHING,
    async act({ id }, { core }) {
      const job = await core.queue.job(id)
      if (!job) throw new OperatorRefusal(404, 'jobUnknown', `job ${id} not found`)
      return job
    },
  }),
  operation({
    name: 'stopJob',
    summary: 'Stop a job. What it has done stays',
    cli: 'queue stop',
    method: 'POST',
    path: '/jobs/:id/stop',
    params: JOB,
    input: NOTHING,
    async act({ id }, { core, by }) {
      const job = await core.queue.stop(id, by)
      if (!job) throw new OperatorRefusal(409, 'jobNotRunning', `job ${id} is not running`)
      return job
    },
  }),
]
