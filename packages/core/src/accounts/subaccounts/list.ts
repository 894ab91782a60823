import type { Sql } from '../../platform/database/database.ts'
import { countSubaccounts, type SubaccountPage, selectSubaccounts } from './store.ts'
import type { Subaccount } from './subaccount.ts'

export async function listSubaccounts(
  sql: Sql,
  parentId: number,
  page: SubaccountPage,
): Promise<{ subaccounts: Subaccount[]; total: number }> {
  const [subaccounts, total] = await Promise.all([
    selectSubaccounts(sql, parentId, page),
    countSubaccounts(sql, parentId, page.username),
  ])
  return { subaccounts, total }
}
