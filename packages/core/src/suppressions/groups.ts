import type { Actor } from '../accounts/audit/index.ts'
import type { Sql } from '../platform/database/database.ts'
import { createGroup, editGroup, removeGroup, requireGroup } from './change-group.ts'
import type { CountedGroup, GroupAct, NewGroup, UnsubscribeGroup } from './group.ts'
import { selectGroups, selectKnownGroups } from './groups-store.ts'

export { type CountedGroup, GROUP_LIMITS, type GroupAct, type NewGroup, type UnsubscribeGroup } from './group.ts'

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

export function createGroups(sql: Sql): Groups {
  return {
    create: (accountId, group, by) => createGroup(sql, { accountId, by }, group),
    list: (accountId, ids) => selectGroups(sql, accountId, ids),
    show: (accountId, id) => requireGroup(sql, accountId, id),
    change: (act, change) => editGroup(sql, act, change),
    remove: (act) => removeGroup(sql, act),
    known: (accountId, ids) => selectKnownGroups(sql, accountId, ids),
  }
}
