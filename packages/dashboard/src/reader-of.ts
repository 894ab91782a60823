import { fastifyCookie } from '@fastify/cookie'
import type { Config, Core } from '@postrider/core'
import { cookiePlace } from './frame/cookies/cookie-place.ts'
import { lastAccount } from './frame/preferences.ts'
import { mayIn, SESSION_COOKIE } from './frame/visitor.ts'

/** A reader of the documentation who is logged in. */
export interface DocsReader {
  readonly accountId: number
  readonly accountName: string
  /** An active domain of the account. */
  readonly domain: string | undefined
  /** The beginning of the newest key; its secret is nowhere. */
  readonly keyPrefix: string | undefined
  readonly maySend: boolean
  readonly mayMakeKeys: boolean
}

/**
 * Returns the reader of a request outside of the dashboard, by its session; undefined without one, or if the database does not answer: the
 * documentation is then that of any reader.
 */
export async function readerOf(
  core: Core,
  config: Config,
  cookies: string | undefined,
): Promise<DocsReader | undefined> {
  if (cookies === undefined) return undefined
  // The plugin that reads them is not registered outside of the dashboard.
  const jar = fastifyCookie.parse(cookies)
  const token = jar[`${cookiePlace(config).prefix}${SESSION_COOKIE}`]
  if (token === undefined) return undefined
  try {
    const session = await core.people.sessions.find(token, { isPerson: false })
    if (!session || session.mustEnrol) return undefined
    const account = lastAccount({ cookies: jar }, session.accounts) ?? session.accounts[0]
    if (!account || account.role === 'observer') return undefined
    const [domains, keys] = await Promise.all([
      mayIn(account, 'domains.see') ? core.domains.page(account.id, { status: '1', limit: 1, offset: 0 }) : undefined,
      mayIn(account, 'keys.read')
        ? core.auth.listKeys(account.id, { limit: 1, newestFirst: true, onlyValid: true })
        : undefined,
    ])
    return {
      accountId: account.id,
      accountName: account.name,
      domain: domains?.domains[0]?.name,
      keyPrefix: keys?.[0]?.prefix,
      maySend: mayIn(account, 'send') && domains?.domains[0] !== undefined && session.user.email !== null,
      mayMakeKeys: mayIn(account, 'keys'),
    }
  } catch {
    return undefined
  }
}
