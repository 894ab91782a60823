import type { SqlTransaction } from '../../platform/database/database.ts'
import { asNamed, noCounts } from './named-counts.ts'
import { MAX_DAYS, MAX_DAYS_WITH_NAMES } from './periods.ts'
import { accountOf, requireText, spanOf } from './question.ts'
import { type Order, selectAsOf, selectSum, selectSums } from './read.ts'
import type { SumsAnswer, SumsQuery } from './stats.ts'

const BY_SENT: Order = { by: { sent: 1 }, descending: true }

export async function showSums(sql: SqlTransaction, question: SumsQuery): Promise<SumsAnswer> {
  const { subject, name, times = false, order = BY_SENT, limit, offset } = question
  if (name !== undefined) requireText(name, subject)
  const { id: accountId, today } = await accountOf(sql, question)
  const span = spanOf(question, today, name === undefined ? MAX_DAYS_WITH_NAMES : MAX_DAYS)
  const asOf = await selectAsOf(sql, accountId)
  if (name !== undefined) {
    const row = await selectSum(sql, { accountId, subject, name, span, times })
    return { ...span, stats: offset > 0 ? [] : [row ? asNamed(row) : noCounts(name)], total: 1, asOf }
  }
  const { rows, total } = await selectSums(sql, { accountId, subject, span, times, order, limit, offset })
  return { ...span, stats: rows.map(asNamed), total, asOf }
}
