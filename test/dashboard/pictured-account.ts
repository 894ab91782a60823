import type { BrowserContext, Page } from 'playwright-core'
import type { Test } from 'tap'
import { openBrowser } from '../helpers/browser.ts'
import type { TestService } from '../helpers/service.ts'
import { makeBusyQueue } from './busy-queue.ts'
import { openDashboard } from './dashboard.ts'
import { PICTURED } from './pictured.ts'

export interface PicturedAccount {
  readonly url: string
  readonly service: TestService
  readonly accountId: number
  readonly context: BrowserContext
  /** The pages that are there, each with its name and URL, found in `page` one after another. */
  pages(page: Page): AsyncGenerator<readonly [name: string, url: string]>
}

/** An owner who is logged in with a browser, and whose account has something on each page. */
export async function openPicturedAccount(t: Test): Promise<PicturedAccount> {
  const { service, url, owner } = await openDashboard(t)
  const { accountId, cookie } = await owner()
  await service.core.domains.add({ accountId, name: 'ship.example' })
  await service.core.suppressions.addAll({ accountId, emails: ['x@harbor.example'] })
  await makeBusyQueue(service, accountId)
  await makeTroubledWebhook(service, accountId)
  const context = await openBrowser(t)
  const [name, value] = cookie.split('=') as [string, string]
  await context.addCookies([{ name, value, url }])
  return {
    url,
    service,
    accountId,
    context,
    async *pages(page) {
      for (const [name, path] of PICTURED) {
        const target =
          typeof path === 'string'
            ? path.replace(':account', String(accountId))
            : await path(page, `${url}/app/${accountId}`)
        if (target !== undefined) yield [name, `${url}${target}`]
      }
    },
  }
}

/** A webhook that the service disabled, with a request that failed and a long response. */
async function makeTroubledWebhook({ core, sql }: TestService, accountId: number): Promise<void> {
  const { webhook } = await core.webhooks.create(accountId, {
    ...{ url: 'https://hooks.ship.example/postrider', events: ['sent'], names: null, label: 'Berths', format: 'v2' },
    ...{
      asText: false,
      abuse: false,
      eventIds: true,
      headers: { 'X-Env': 'production' },
      enabled: false,
      signed: true,
    },
  })
  await sql`
    with webhook as (
      update webhooks set failed = 1, disabled_at = service_now(), disabled_reason = 'gone', problem = 'received status 410 Gone'
       where id = ${webhook.id} returning id
    )
    insert into webhook_deliveries (webhook_id, place, account_id, batch_id, at, after_number, to_number, attempt, status, milliseconds, problem, types,
           written, events, request_head, answer_head, answer)
    select id, 100001, ${accountId}, gen_random_uuid(), service_now(), 0, 1, 1, 410, 84, 'received status 410', '{sent}',
           '{"format":"v2","asText":false,"abuse":false,"eventIds":true,"names":null}', 1,
           ${JSON.stringify({ 'webhook-id': `msg_${'5b0c2f5d'.repeat(4)}`, 'webhook-signature': `v1,${'A'.repeat(43)}=` })}::text,
           '[["Content-Type","text/html; charset=utf-8"],["X-Request-Id","0f8f0e7a1d2c3b4a59"]]', ${Buffer.from(`<h1>Gone</h1>${'x'.repeat(900)}`)}
      from webhook`
}
