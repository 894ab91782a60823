import type { Config, Core } from '@postrider/core'
import { cookiePlace } from './frame/cookies/cookie-place.ts'
import { ACCOUNT_COOKIE } from './frame/preferences.ts'
import { mayIn, SESSION_COOKIE } from './frame/visitor.ts'

/** Facts that the documentation shows to a visitor who is logged in. */
export interface ReaderFacts {
  readonly accountId: number
  readonly accountName: string
  readonly domain: string | undefined
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
): Promise<ReaderFacts | undefined> {
  if (cookies === undefined) return undefined
  const token = cookieIn(cookies, `${cookiePlace(config).prefix}${SESSION_COOKIE}`)
  if (token === undefined) return undefined
  try {
    const session = await core.people.sessions.find(token, { isPerson: false })
    if (!session || session.mustEnrol) return undefined
    const account =
      session.accounts.find(({ id }) => String(id) === cookieIn(cookies, ACCOUNT_COOKIE)) ?? session.accounts[0]
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

/** The value of a cookie; undefined if it is not there or cannot be decoded. The dashboard's own parser is not registered here. */
function cookieIn(header: string, name: string): string | undefined {
  const pair = header.split(';').find((one) => one.trim().startsWith(`${name}=`))
  try {
    return pair && decodeURIComponent(pair.trim().slice(name.length + 1))
  } catch {
    return undefined
  }
}
