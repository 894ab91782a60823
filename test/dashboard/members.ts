import { makeMember, PASSWORD } from '../core/people/people.ts'
import type { Sender } from '../helpers/service.ts'
import { sessionCookieOf, submit, type TestDashboard, type TestVisitor, visitor } from './dashboard.ts'

/** A member of the account with this role, logged in. */
export async function member(
  { service, url }: TestDashboard,
  { accountId }: Pick<Sender, 'accountId'>,
  role = 'owner',
): Promise<TestVisitor> {
  const { email } = await makeMember(service, accountId, role)
  const response = await submit(url, '/app/login', { email, password: PASSWORD })
  return visitor(url, sessionCookieOf(response), accountId)
}
