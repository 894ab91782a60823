import { allows, PEOPLE_RIGHTS, type PeopleRight, type Role, rightsOf } from '@postrider/core'
import type { ROUTES } from '@postrider/dashboard'
import { type TestDashboard, type TestVisitor, visitor } from './dashboard.ts'

export const ROLES = ['owner', 'developer', 'support', 'viewer', 'observer'] as const

export type Route = (typeof ROUTES)[number]

/** Visitors of an account in each of its roles; the observer is an operator, logged in here, who looks at it. */
export async function everyRole(
  { service, member }: TestDashboard,
  observer: TestVisitor,
  accountId: number,
): Promise<Record<Role, TestVisitor>> {
  const token = decodeURIComponent(observer.cookie.split('=')[1] as string)
  const session = await service.core.people.sessions.find(token)
  if (!session) throw new Error('no session')
  await service.core.people.lookAs(session, accountId, '192.0.2.1')
  return {
    owner: await member(accountId, 'owner'),
    developer: await member(accountId, 'developer'),
    support: await member(accountId, 'support'),
    viewer: await member(accountId, 'viewer'),
    observer: { ...observer, accountId },
  }
}

/** Visitors without a session: one without a cookie, and one with a cookie of the same form. */
export function withoutSession(url: string, { cookie }: TestVisitor): Record<string, TestVisitor> {
  return { nobody: visitor(url, '', 0), 'a session that is none': visitor(url, `${cookie.slice(0, -4)}AAAA`, 0) }
}

export function mayVisit(role: Role, { right }: Extract<Route, { for: 'account' }>): boolean {
  const { scopes, people } = rightsOf(role)
  if (right === null) return true
  return isOfPeople(right) ? people.includes(right) : allows(scopes, right)
}

const isOfPeople = (right: string): right is PeopleRight => PEOPLE_RIGHTS.includes(right as PeopleRight)
