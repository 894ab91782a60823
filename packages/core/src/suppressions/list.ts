import type { Sql } from '../platform/database/database.ts'
import { invalidParameter } from '../platform/errors.ts'
import { countUpTo, selectAfter, selectPage } from './store.ts'
import { COUNTED, type Suppression, type SuppressionFilter, type SuppressionPage } from './suppression.ts'
import { parseValues } from './values.ts'

const PAGE_SIZE = 2000

export async function listPage(
  sql: Sql,
  accountId: number,
  { emails = [], domains = [], ...filter }: SuppressionFilter,
): Promise<SuppressionPage> {
  if (filter.offset >= COUNTED)
    throw invalidParameter('offset', `must be less than ${COUNTED}; use an export to get all entries`)
  const values = emails.length + domains.length > 0 ? parseValues({ emails, domains }) : {}
  const [suppressions, total] = await Promise.all([
    selectPage(sql, accountId, { ...filter, ...values }),
    countUpTo(sql, accountId, { ...filter, ...values }),
  ])
  return { suppressions, total }
}

export async function* pagesOf(sql: Sql, accountId: number): AsyncGenerator<readonly Suppression[]> {
  let after: Pick<Suppression, 'value' | 'group'> = { value: '', group: 0 }
  for (;;) {
    const page = await selectAfter(sql, accountId, after, PAGE_SIZE)
    if (page.length > 0) yield page
    const last = page.at(-1)
    if (!last || page.length < PAGE_SIZE) return
    after = last
  }
}
