import { createSecrets, makeTrackingToken, type TrackingTarget } from '@postrider/core'
import type { Test } from 'tap'
import { DELIVERED } from '../../core/delivery/queue-of.ts'
import { claimDue } from '../../helpers/claim.ts'
import { moveClock } from '../../helpers/database.ts'
import { startDns, type Zone } from '../../helpers/dns.ts'
import { numberEvents } from '../../helpers/number-events.ts'
import { startReceiver } from '../../helpers/receiver.ts'
import { makeService, type TestService } from '../../helpers/service.ts'
import { createNormalizer, NOW } from './normalize.ts'

/** An account with a key for everything and an active sending domain. */
export interface Owner {
  readonly accountId: number
  readonly key: string
  readonly domain: string
}

/** The service that is called, with what happens besides the calls. */
export interface World {
  readonly base: string
  readonly service: TestService
  readonly normalize: (text: string) => string
  /** A URL that answers 200. */
  readonly receiverUrl: string
  readonly zones: Record<string, Zone>
  /** Unix seconds by the real clock, with which schedules are compared. */
  readonly inAnHour: number
  makeOwner(name: string): Promise<Owner>
  /** Delivers all waiting mail and numbers the events. */
  deliver(): Promise<void>
  /** Writes the files of the waiting exports. */
  writeExports(): Promise<void>
  /** Adds a request of a webhook, and returns its id. */
  addRequest(webhookId: number): Promise<string>
  trackingPath(target: TrackingTarget): string
}

const LETTERS = { open: 'o', click: 'c', unsubscribe: 'u', preferences: 'p' } as const

export async function makeWorld(t: Test): Promise<World> {
  const dns = await startDns(t, {})
  const receiver = await startReceiver(t)
  const service = await makeService(t, {
    DNS_SERVERS: dns.address,
    HELO_NAME: 'relay.test',
    RETURN_PATH_HOST: 'returns.relay.test',
    PUBLIC_URL: 'https://go.relay.test',
    WEBHOOK_PRIVATE_NETWORKS: 'allow',
  })
  const { core, sql } = service
  await moveClock(sql, `${NOW.getTime() - Date.now()} milliseconds`)
  const base = await service.openApi()
  const inAnHour = Math.floor(Date.now() / 1000) + 3600
  const secrets = createSecrets(service.env.SECRET_KEY as string)
  return {
    base,
    service,
    normalize: createNormalizer({
      [new URL(receiver.url).host]: '<receiver>',
      [base]: '<base>',
      [inAnHour]: '<in an hour>',
    }),
    receiverUrl: receiver.url,
    zones: dns.zones,
    inAnHour,
    async makeOwner(name) {
      const { id: accountId } = await core.accounts.create(name)
      const { secret: key } = await core.auth.createKey({ accountId })
      const domain = `${name}.example`
      await core.domains.add({ accountId, name: domain, state: 'active' })
      return { accountId, key, domain }
    },
    async deliver() {
      const lease = await core.deliveries.register({ host: 'worker.example', pid: process.pid })
      const { workerId } = lease
      const claimed = await claimDue(core, { workerId, limit: 1000 })
      await core.deliveries.record(claimed.map((delivery) => ({ ...delivery, workerId, outcome: DELIVERED })))
      await lease.release()
      await numberEvents(service)
    },
    async writeExports() {
      while (await core.exports.workSome());
    },
    async addRequest(webhookId) {
      const [row] = await sql<{ id: string }[]>`
        with webhook as (update webhooks set succeeded = 1 where id = ${webhookId} returning id, account_id)
        insert into webhook_deliveries (webhook_id, place, account_id, batch_id, at, after_number, to_number, attempt, status, milliseconds, types, written,
               events, request_head, answer_head, answer)
        select id, 1, account_id, gen_random_uuid(), service_now(), 0, 1, 1, 200, 20, '{sent}',
               '{"format":"v2","asText":false,"abuse":false,"eventIds":true,"names":null}', 1, '{"webhook-timestamp":"1"}', '[["X-Dock","4"]]', 'ok'::bytea
          from webhook
        returning (extract(epoch from at) * 1000000)::bigint::text as id`
      return row?.id ?? ''
    },
    trackingPath: (target) => `/t/${LETTERS[target.kind]}/${makeTrackingToken(secrets, target)}`,
  }
}
