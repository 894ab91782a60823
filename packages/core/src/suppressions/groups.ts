import { type Actor, noteChange, OPERATOR } from '../accounts/audit/index.ts'
import { type AnySql, isUniqueViolation, type Sql, type SqlTransaction } from '../platform/database/database.ts'
import { invalidParameter, ServiceError } from '../platform/errors.ts'
import { COUNTED } from './suppression.ts'

/** A kind of mail that recipients can unsubscribe from separately. */
export interface UnsubscribeGroup {
  /** Number within the account, used by messages. */
  readonly id: number
  readonly name: string
  readonly description: string
  readonly isDefault: boolean
}

export interface CountedGroup extends UnsubscribeGroup {
  /** Number of unsubscribes, counted up to {@link COUNTED}. */
  readonly unsubscribes: number
}

export interface NewGroup {
  readonly name: string
  readonly description: string
  readonly isDefault: boolean
  /** Number from another installation. If omitted, the next one. */
  readonly id?: number | undefined
}

export interface GroupAct {
  readonly accountId: number
  readonly id: number
  /** The operator if omitted. */
  readonly by?: Actor | undefined
}

/** All functions except `create`, `list` and `known` throw groupUnknown for a group that the account does not have. */
export interface Groups {
  /** Throws parameterInvalid (name, description, id), groupNameTaken, groupsTooMany. */
  create(accountId: number, group: NewGroup, by?: Actor): Promise<UnsubscribeGroup>
  /** The account's groups by number, or only those in `ids`. */
  list(accountId: number, ids?: readonly number[]): Promise<CountedGroup[]>
  show(accountId: number, id: number): Promise<CountedGroup>
  /** Throws the same errors as create. Making a group the default removes this status from the previous default. */
  change(act: GroupAct, change: Partial<Omit<NewGroup, 'id'>>): Promise<UnsubscribeGroup>
  /** Deletes a group. Its unsubscribes are kept and its number is not reused. */
  remove(act: GroupAct): Promise<void>
  /** Returns those of the numbers that are groups of the account. */
  known(accountId: number, ids: readonly number[]): Promise<Set<number>>
}

export const GROUP_LIMITS = { name: 30, description: 100, groups: 200 } as const
const MAX_ID = 2_147_483_647

export function groupsOf(sql: Sql): Groups {
  async function withAccountLock(
    accountId: number,
    fn: (transaction: SqlTransaction) => Promise<UnsubscribeGroup>,
  ): Promise<UnsubscribeGroup> {
    try {
      return (await sql.begin(async (transaction) => {
        // Serialized per account: numbers are consecutive, and at most one group is the default.
        await transaction`select from accounts where id = ${accountId} for no key update`
        return fn(transaction)
      })) as UnsubscribeGroup
    } catch (error) {
      if (isUniqueViolation(error, 'unsubscribe_groups_name')) throw new ServiceError('groupNameTaken')
      if (isUniqueViolation(error, 'unsubscribe_groups_pkey')) throw invalidParameter('id', 'is already in use')
      throw error
    }
  }

  return {
    create: (accountId, group, by = OPERATOR) =>
      withAccountLock(accountId, async (transaction) => {
        const { name, description } = validate(group)
        const { id = null } = group
        if (id !== null && !isValidId(id)) throw invalidParameter('id', `must be a whole number from 1 to ${MAX_ID}`)
        const [existing] = await transaction<{ count: number }[]>`
          select count(*)::int as count from unsubscribe_groups where account_id = ${accountId} and deleted_at is null`
        if ((existing?.count ?? 0) >= GROUP_LIMITS.groups) {
          throw new ServiceError('groupsTooMany', { values: { limit: GROUP_LIMITS.groups } })
        }
        if (group.isDefault) await clearDefault(transaction, accountId)
        const [made] = await transaction<UnsubscribeGroup[]>`
          insert into unsubscribe_groups as g (account_id, id, name, description, is_default)
          values (${accountId},
                  coalesce(${id}::int, (select coalesce(max(id), 0) + 1 from unsubscribe_groups where account_id = ${accountId})),
                  ${name}, ${description}, ${group.isDefault})
          returning ${columns(transaction)}`
        return audit(transaction, { accountId, by, action: 'group.create', after: made })
      }),
    list: (accountId, ids) => select(sql, accountId, ids),
    async show(accountId, id) {
      return known((await select(sql, accountId, [id]))[0])
    },
    change: ({ accountId, id, by = OPERATOR }, change) =>
      withAccountLock(accountId, async (transaction) => {
        const before = known((await select(transaction, accountId, [id]))[0])
        const { name, description } = validate({ ...before, ...change })
        const { isDefault = before.isDefault } = change
        if (isDefault && !before.isDefault) await clearDefault(transaction, accountId)
        const [after] = await transaction<UnsubscribeGroup[]>`
          update unsubscribe_groups g set name = ${name}, description = ${description}, is_default = ${isDefault}
           where account_id = ${accountId} and id = ${id} returning ${columns(transaction)}`
        return audit(transaction, { accountId, by, action: 'group.edit', before, after })
      }),
    async remove({ accountId, id, by = OPERATOR }) {
      await withAccountLock(accountId, async (transaction) => {
        const before = known((await select(transaction, accountId, [id]))[0])
        await transaction`
          update unsubscribe_groups set deleted_at = service_now(), is_default = false
           where account_id = ${accountId} and id = ${id}`
        return audit(transaction, { accountId, by, action: 'group.delete', before })
      })
    },
    async known(accountId, ids) {
      const rows = await sql<{ id: number }[]>`
        select id from unsubscribe_groups
         where account_id = ${accountId} and id = any(${inRange(ids)}::int[]) and deleted_at is null`
      return new Set(rows.map(({ id }) => id))
    },
  }
}

const columns = (sql: AnySql) => sql`g.id, g.name, g.description, g.is_default as "isDefault"`

function select(sql: AnySql, accountId: number, ids?: readonly number[]): Promise<CountedGroup[]> {
  return sql<CountedGroup[]>`
    select ${columns(sql)},
           (select count(*)::int from (
             select from suppressions s
              where s.account_id = g.account_id and s.group_id = g.id and s.group_id > 0 limit ${COUNTED}) unsubscribed
           ) as unsubscribes
      from unsubscribe_groups g
     where g.account_id = ${accountId} and g.deleted_at is null ${ids ? sql`and g.id = any(${inRange(ids)}::int[])` : sql``}
     order by g.id`
}

function inRange(ids: readonly number[]): number[] {
  return ids.filter(isValidId)
}

function isValidId(id: number): boolean {
  return Number.isInteger(id) && id >= 1 && id <= MAX_ID
}

async function clearDefault(sql: AnySql, accountId: number): Promise<void> {
  await sql`update unsubscribe_groups set is_default = false where account_id = ${accountId} and is_default`
}

function validate(group: Pick<NewGroup, 'name' | 'description'>): { name: string; description: string } {
  const text = (parameter: 'name' | 'description', min: number): string => {
    const clean = group[parameter].trim()
    const max = GROUP_LIMITS[parameter]
    if (clean.length < min || clean.length > max || /\p{Cc}/u.test(clean)) {
      throw invalidParameter(parameter, `must have ${min} to ${max} characters and no control characters`)
    }
    return clean
  }
  return { name: text('name', 1), description: text('description', 0) }
}

interface AuditedChange {
  readonly accountId: number
  readonly by: Actor
  readonly action: string
  readonly before?: UnsubscribeGroup | undefined
  readonly after?: UnsubscribeGroup | undefined
}

async function audit(
  sql: SqlTransaction,
  { accountId, by, action, before, after }: AuditedChange,
): Promise<UnsubscribeGroup> {
  const group = known(after ?? before)
  const auditValues = ({ name, description, isDefault }: UnsubscribeGroup) => ({ name, description, isDefault })
  await noteChange(sql, {
    ...{ accountId, by, action, object: `group ${group.id}` },
    ...(before ? { before: auditValues(before) } : {}),
    ...(after ? { after: auditValues(after) } : {}),
  })
  return group
}

function known<T>(group: T | undefined): T {
  if (!group) throw new ServiceError('groupUnknown')
  return group
}
