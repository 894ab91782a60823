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
