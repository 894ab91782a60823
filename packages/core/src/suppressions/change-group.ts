import { type Actor, noteChange, OPERATOR } from '../accounts/audit/index.ts'
import { type AnySql, isUniqueViolation, type Sql, type SqlTransaction } from '../platform/database/database.ts'
import { invalidParameter, ServiceError } from '../platform/errors.ts'
import {
  type CountedGroup,
  GROUP_LIMITS,
  type GroupAct,
  isGroupId,
  MAX_GROUP_ID,
  type NewGroup,
  type UnsubscribeGroup,
  validateGroup,
} from './group.ts'
import {
  clearDefaultGroup,
  countGroups,
  insertGroup,
  markGroupDeleted,
  selectGroups,
  updateGroup,
} from './groups-store.ts'

export function createGroup(
  sql: Sql,
  { accountId, by = OPERATOR }: Omit<GroupAct, 'id'>,
  group: NewGroup,
): Promise<UnsubscribeGroup> {
  return withAccountLock(sql, accountId, async (transaction) => {
    const { name, description } = validateGroup(group)
    const { id = null, isDefault } = group
    if (id !== null && !isGroupId(id)) {
      throw invalidParameter('id', `must be a whole number from 1 to ${MAX_GROUP_ID}`)
    }
    if ((await countGroups(transaction, accountId)) >= GROUP_LIMITS.groups) {
      throw new ServiceError('groupsTooMany', { values: { limit: GROUP_LIMITS.groups } })
    }
    if (isDefault) await clearDefaultGroup(transaction, accountId)
    const made = await insertGroup(transaction, { accountId, id, name, description, isDefault })
    return audit(transaction, { accountId, by, action: 'group.create', after: made })
  })
}

export function editGroup(
  sql: Sql,
  { accountId, id, by = OPERATOR }: GroupAct,
  change: Partial<Omit<NewGroup, 'id'>>,
): Promise<UnsubscribeGroup> {
  return withAccountLock(sql, accountId, async (transaction) => {
    const before = await requireGroup(transaction, accountId, id)
    const { name, description } = validateGroup({ ...before, ...change })
    const { isDefault = before.isDefault } = change
    if (isDefault && !before.isDefault) await clearDefaultGroup(transaction, accountId)
    const after = await updateGroup(transaction, { accountId, id, name, description, isDefault })
    return audit(transaction, { accountId, by, action: 'group.edit', before, after })
  })
}

export async function removeGroup(sql: Sql, { accountId, id, by = OPERATOR }: GroupAct): Promise<void> {
  await withAccountLock(sql, accountId, async (transaction) => {
    const before = await requireGroup(transaction, accountId, id)
    await markGroupDeleted(transaction, accountId, id)
    return audit(transaction, { accountId, by, action: 'group.delete', before })
  })
}

/** Throws groupUnknown. */
export async function requireGroup(sql: AnySql, accountId: number, id: number): Promise<CountedGroup> {
  return known((await selectGroups(sql, accountId, [id]))[0])
}

async function withAccountLock(
  sql: Sql,
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
    accountId,
    by,
    action,
    object: `group ${group.id}`,
    ...(before ? { before: auditValues(before) } : {}),
    ...(after ? { after: auditValues(after) } : {}),
  })
  return group
}

function known<T>(group: T | undefined): T {
  if (!group) throw new ServiceError('groupUnknown')
  return group
}
