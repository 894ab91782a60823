import { type Core, createCore, createLog, type LogInResult, type Session } from '@postrider/core'
import type { Test } from 'tap'
import type { TestService } from '../../helpers/service.ts'

export const PASSWORD = 'correct horse battery'
export const CLIENT = { address: '192.0.2.1', agent: 'test' }

let people = 0

/** An address and a name that no other test has. */
export function newPerson() {
  const number = ++people
  return { name: `Person ${number}`, email: `person${number}@people.example`, password: PASSWORD }
}

/** Another process of the installation: caches of its own over the same database. */
export function anotherProcess(t: Test, { sql, config }: TestService, settings = {}): Core {
  const core = createCore({ sql, config: { ...config, ...settings }, log: createLog('test', 'silent') })
  t.teardown(() => core.readiness.close())
  return core
}

let addresses = 0

/** A client in a network of its own, so that the limits of one test do not stop another. */
export function newClient() {
  const number = ++addresses
  return { address: `10.${number >> 8}.${number & 255}.1`, agent: 'test' }
}

/** The first user of an installation, who is its operator and owns its account. */
export async function firstUser({ core }: TestService) {
  const person = newPerson()
  const { token } = await core.people.firstLink.create()
  return { ...person, ...(await core.people.firstLink.use(token, person, newClient())) }
}

/** As an operator's link does, for a user without a session. */
export async function setPassword({ people }: Core, userId: number, password = PASSWORD): Promise<void> {
  const { url } = await people.passwordReset.link(userId)
  await people.passwordReset.use(new URL(url).searchParams.get('token') as string, password, newClient())
  await people.sessions.endAll(userId)
}

/** A user with a role in an account; they have a password, and no session. */
export async function makeMember({ core, sql }: TestService, accountId: number, role: string) {
  const person = newPerson()
  const by = { keyId: null, address: null }
  const userId = await core.people.users.create(person, by)
  await setPassword(core, userId)
  await core.people.members.add(accountId, userId, role, by)
  await sql`update users set verified_at = coalesce(verified_at, now()) where id = ${userId}`
  return { ...person, userId }
}

export function tokenOf(result: LogInResult): string {
  if (result.kind !== 'session') throw new Error(`no session: ${result.kind}`)
  return result.token
}

export async function sessionOf(core: Core, token: string): Promise<Session> {
  const session = await core.people.sessions.find(token)
  if (!session) throw new Error('no such session')
  return session
}
