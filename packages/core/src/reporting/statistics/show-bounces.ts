import type { SqlTransaction } from '../../platform/database/database.ts'
import { type BouncesOfDay, countBounces } from './bounces.ts'
import { MAX_DAYS_WITH_NAMES } from './periods.ts'
import { accountOf, spanOf } from './question.ts'
import type { BouncesRequest } from './stats.ts'

export async function showBounces(sql: SqlTransaction, question: BouncesRequest): Promise<BouncesOfDay[]> {
  const { id: accountId, today } = await accountOf(sql, question)
  const span = spanOf(question, today, MAX_DAYS_WITH_NAMES)
  return countBounces(sql, { accountId, span, classification: question.classification })
}
