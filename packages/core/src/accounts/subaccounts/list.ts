import type { Sql } from '../../platform/database/database.ts'
import { UNLIMITED } from '../credits/credit.ts'
import { perDayOf, runsOut } from '../credits/outlook.ts'
import { selectCredits, selectUses } from '../credits/store.ts'
import { countSubaccounts, type SubaccountPage, selectSubaccounts } from './store.ts'
import type { Subaccount, SubaccountFigures } from './subaccount.ts'

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

/** The subaccounts of a page, with what they used, their credit and how long it lasts. */
export async function listFigures(
  sql: Sql,
  parentId: number,
  page: SubaccountPage,
): Promise<{ subaccounts: SubaccountFigures[]; total: number }> {
  const [rows, total] = await Promise.all([
    selectSubaccounts(sql, parentId, page),
    countSubaccounts(sql, parentId, page.username),
  ])
  const ids = rows.map(({ id }) => id)
  const [credits, { now, uses }] = await Promise.all([selectCredits(sql, ids), selectUses(sql, ids)])
  const subaccounts = rows.map((row) => {
    const credit = credits.get(row.id) ?? UNLIMITED
    const use = uses.get(row.id) ?? { used: 0, recent: 0, days: 1 }
    const perDay = perDayOf(use)
    return { ...row, credit, used: use.used, perDay, runsOutAt: runsOut(credit, perDay, now) }
  })
  return { subaccounts, total }
}
