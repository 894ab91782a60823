import { loadProviders, OVERVIEW_LIMIT, PAUSE_SECONDS, QUEUE_GROUPINGS, readDuration } from '@postrider/core'
import { Type } from 'typebox'
import { type Operation, operation } from './operation.ts'
import { OperatorRefusal } from './refusal.ts'

const NOTHING = Type.Object({})
const PLACE = Type.Object({ place: Type.String({ minLength: 1, maxLength: 300 }) })
/** Ids are Postgres integers. */
const ID = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })

export const QUEUES: readonly Operation[] = [
  operation({
    name: 'getQueues',
    summary: 'Show what waits, why, and what was refused',
    cli: 'queue',
    method: 'GET',
    path: '/queues',
    params: NOTHING,
    input: Type.Object({
      by: Type.Optional(Type.Enum([...QUEUE_GROUPINGS])),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: OVERVIEW_LIMIT.most })),
    }),
    act: ({ by = 'provider', limit = OVERVIEW_LIMIT.usual }, { core }) => core.queue.overview({ by, limit }),
  }),
  operation({
    name: 'getPlace',
    summary: 'Show one provider or site: its limits, pauses, waiting and refused mail',
    cli: 'queue show',
    method: 'GET',
    path: '/queues/:place',
    params: PLACE,
    input: NOTHING,
    async act({ place }, { core }) {
      const details = await core.queue.destination(place)
      if (!details)
        throw new OperatorRefusal(404, 'placeUnknown', 'no provider or site with waiting or refused mail has this name')
      return details
    },
  }),
  operation({
    name: 'pausePlace',
    summary: 'Stop the mail to a provider or site',
    cli: 'queue pause',
    method: 'POST',
    path: '/queues/:place/pause',
    params: PLACE,
    input: Type.Object({
      reason: Type.String({ maxLength: 1000 }),
      account: Type.Optional(ID),
      for: Type.Optional(Type.String({ maxLength: 20 })),
    }),
    act: ({ place, reason, account = null, for: duration }, { core, by }) => {
      const seconds = duration === undefined ? PAUSE_SECONDS.usual : readDuration('for', duration)
      return core.queue.pause({ place, accountId: account, seconds, reason }, by)
    },
  }),
  operation({
    name: 'resumePlace',
    summary: 'Continue the mail to a provider or site',
    cli: 'queue resume',
    method: 'POST',
    path: '/queues/:place/resume',
    params: PLACE,
    input: Type.Object({ account: Type.Optional(ID), rules: Type.Optional(Type.Boolean()) }),
    async act({ place, account = null, rules = false }, { core, by }) {
      const ended = await core.queue.resume({ place, accountId: account }, { rules, by })
      if (ended.length === 0) {
        const others = rules ? '' : '; rules also ends the limits of back-off rules'
        throw new OperatorRefusal(409, 'notPaused', `the operator has not paused this place${others}`)
      }
      return { place, accountId: account, ended }
    },
  }),
  operation({
    name: 'listOverrides',
    summary: 'List changed limits',
    cli: 'queue show',
    method: 'GET',
    path: '/overrides',
    params: NOTHING,
    input: NOTHING,
    act: async (_input, { core }) => ({ overrides: await core.deliveries.limits.overrides() }),
  }),
  operation({
    name: 'listProviders',
    summary: 'List the mailbox providers and their limits',
    cli: 'provider list',
    method: 'GET',
    path: '/providers',
    params: NOTHING,
    input: NOTHING,
    async act(_input, { config }) {
      const { all, generalRules } = loadProviders(config.providersFile)
      return { providers: all, generalRules }
    },
  }),
]
