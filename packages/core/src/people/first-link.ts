import { type Actor, noteChange } from '../accounts/audit/index.ts'
import { insertAccount } from '../accounts/store.ts'
import { type AnySql, onlyRow, type Sql, type SqlTransaction } from '../platform/database/database.ts'
import { ServiceError } from '../platform/errors.ts'
import { blockOf } from '../platform/net/networks.ts'
import type { PasswordCheck } from '../platform/security/passwords.ts'
import { makeLink, peekLink, takeLink } from './links.ts'
import { requireUncommon } from './log-in/common-passwords.ts'
import type { Client, NewPerson } from './person.ts'
import type { SessionKeeper } from './sessions.ts'
import { freeAccountName } from './sign-up.ts'
import { insertMembership, insertOperator, insertUser, validEmail, validPersonName } from './users.ts'

/** The link with which the first user is made: owner of the first account, and operator. */
export interface FirstLink {
  /** Whether there is no operator yet. */
  isNeeded(): Promise<boolean>
  /** A token that works once, for 24 hours. Throws parameterInvalid if there already is an operator. */
  create(): Promise<{ token: string; expiresAt: Date }>
  /** Whether the token can be used at present. */
  isValid(token: string): Promise<boolean>
  /**
   * Makes the user, and logs them in: owner of the oldest account without members (a new one if there is none), and operator. The link ends with the
   * first operator, whichever way that one was made.
   *
   * Throws parameterInvalid (name, email), passwordWeak and linkInvalid. The link remains usable except after linkInvalid.
   */
  use(token: string, person: NewPerson, client: Client): Promise<{ userId: number; accountId: number; token: string }>
}

const HOURS = 24
/** Name of the account that is made if there is none. */
const NAME = 'main'

export function createFirstLink({
  sql,
  passwords,
  sessions,
}: {
  readonly sql: Sql
  readonly passwords: PasswordCheck
  readonly sessions: SessionKeeper
}): FirstLink {
  const isNeeded = async (within: AnySql): Promise<boolean> =>
    onlyRow(await within<{ none: boolean }[]>`select not exists (select from operators) as none`).none

  return {
    isNeeded: () => isNeeded(sql),
    async create() {
      if (!(await isNeeded(sql))) {
        throw new ServiceError('parameterInvalid', {
          values: { parameter: 'link', problem: 'is only for an installation without an operator' },
        })
      }
      await sql`delete from one_time_links where purpose = 'first' and used_at is null`
      return makeLink(sql, { purpose: 'first', minutes: HOURS * 60 })
    },
    isValid: async (token) => (await peekLink(sql, 'first', token)) !== undefined && (await isNeeded(sql)),
    async use(token, person, client) {
      const name = validPersonName(person.name)
      const email = validEmail(person.email)
      if (!(await this.isValid(token))) throw new ServiceError('linkInvalid')
      await requireUncommon(person.password, [name, email.text])
      const password = await passwords.hash(person.password, { queue: 'link', who: blockOf(client.address) })
      return sql.begin(async (transaction) => {
        // Another way to make an operator at the same time comes first or waits.
        await transaction`lock table operators in share row exclusive mode`
        if (!(await isNeeded(transaction))) throw new ServiceError('linkInvalid')
        await takeLink(transaction, 'first', token)
        const userId = await insertUser(transaction, { name, email, password, verified: true })
        await insertOperator(transaction, userId)
        const accountId = await accountWithoutMembers(transaction)
        await insertMembership(transaction, accountId, userId, 'owner')
        const by: Actor = { keyId: null, userId, address: client.address }
        const object = `user ${userId}`
        await noteChange(transaction, { accountId, by, action: 'member.add', object, after: { role: 'owner' } })
        const session = await sessions.begin(transaction, userId, 'password', client)
        return { userId, accountId, token: session }
      }) as Promise<{ userId: number; accountId: number; token: string }>
    },
  }
}

async function accountWithoutMembers(transaction: SqlTransaction): Promise<number> {
  const [account] = await transaction<{ id: number }[]>`
    select a.id from accounts a
     where a.parent_id is null and a.deleted_at is null and a.closed_at is null and not exists (select from memberships m where m.account_id = a.id)
     order by a.id limit 1`
  return account?.id ?? (await insertAccount(transaction, await freeAccountName(transaction, NAME))).id
}
