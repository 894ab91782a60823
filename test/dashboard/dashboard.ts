import type { MemberRole } from '@postrider/core'
import type { Test } from 'tap'
import { setPassword } from '../core/people/people.ts'
import { makeService, type TestService } from '../helpers/service.ts'

/** A visitor who is logged in: asks for pages and submits forms as a browser does. */
export interface TestVisitor {
  readonly accountId: number
  /** The Cookie header. */
  readonly cookie: string
  get(path: string): Promise<Response>
  post(path: string, form?: Readonly<Record<string, string>>): Promise<Response>
}

export interface TestDashboard {
  readonly service: TestService
  readonly url: string
  /** The owner of the first account, who operates the installation. */
  owner(): Promise<TestVisitor>
  /** Another user, who is a member of the account with this role. */
  member(accountId: number, role: MemberRole): Promise<TestMember>
}

export interface TestMember extends TestVisitor {
  readonly userId: number
  readonly name: string
  readonly email: string
}

let members = 0

export const PASSWORD = 'a horse carries letters'

/** The API with the dashboard, on a database of its own. `server`: see makeService. */
export async function openDashboard(
  t: Test,
  settings: Record<string, string> = {},
  server?: string,
): Promise<TestDashboard> {
  const service = await makeService(t, settings, server)
  const url = await service.openApi()
  return {
    service,
    url,
    async owner() {
      const { token } = await service.core.people.firstLink.create()
      const email = `ada-${process.pid}@northwind.example`
      const response = await submit(url, '/app/first', { token, name: 'Ada Lovelace', email, password: PASSWORD })
      const cookie = sessionCookieOf(response)
      const session = await service.core.people.sessions.find(decodeURIComponent(cookie.split('=')[1] as string))
      return visitor(url, cookie, session?.accounts[0]?.id as number)
    },
    async member(accountId, role) {
      const { people } = service.core
      const number = ++members
      const by = { keyId: null, address: null }
      const person = { name: `Member ${number}`, email: `member${number}-${process.pid}@people.example` }
      const userId = await people.users.create(person, by)
      // The owner's password, so that the test hashes none.
      const [row] = await service.sql<{ password: string | null }[]>`
        update users set password = (select password from users where password is not null limit 1) where id = ${userId} returning password`
      if (!row?.password) await setPassword(service.core, userId, PASSWORD)
      await people.members.add(accountId, userId, role, by)
      const result = await people.logIn({ email: person.email, password: PASSWORD, address: `10.9.${number}.1` })
      if (result.kind !== 'session') throw new Error(`no session: ${result.kind}`)
      return { ...visitor(url, `postrider=${encodeURIComponent(result.token)}`, accountId), ...person, userId }
    },
  }
}

/** The owner, with a key and an active domain, who sends mail. */
export interface TestSender extends TestVisitor {
  readonly apiKey: string
  readonly domain: string
  readonly accountName: string
}

export async function sendingOwner({ service, owner }: TestDashboard): Promise<TestSender> {
  const ada = await owner()
  const { accountId } = ada
  const domain = 'ship.example'
  await service.giveKey(domain)
  await service.core.domains.add({ accountId, name: domain, state: 'active' })
  const { secret: apiKey } = await service.core.auth.createKey({ accountId, name: 'test' })
  return { ...ada, apiKey, domain, accountName: 'main' }
}

/** Submits a form from a page of the dashboard. */
export function submit(
  url: string,
  path: string,
  form: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${url}${path}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'same-origin', ...headers },
    body: new URLSearchParams(form),
  })
}

/** The session cookie that a response sets, as the browser sends it. */
export function sessionCookieOf(response: Response): string {
  const cookie = response.headers.getSetCookie().find((one) => one.startsWith('postrider='))
  if (!cookie) throw new Error(`no session: ${response.status}`)
  return cookie.split(';')[0] as string
}

export function visitor(url: string, cookie: string, accountId: number): TestVisitor {
  return {
    accountId,
    cookie,
    get: (path) => fetch(`${url}${path}`, { headers: { cookie }, redirect: 'manual' }),
    post: (path, form = {}) => submit(url, path, form, { cookie }),
  }
}
