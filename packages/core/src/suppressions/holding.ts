import { parseAddress } from '../mime/address.ts'
import type { Sql } from '../platform/database/database.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Forgotten } from './forgotten.ts'
import { selectHolding } from './store.ts'
import type { MatchingSuppression } from './suppression.ts'

export async function holding(
  { sql, forgotten }: { readonly sql: Sql; readonly forgotten: Forgotten },
  accountId: number,
  email: string,
  group: number | undefined,
): Promise<MatchingSuppression[]> {
  const address = parseAddress(email)
  if (!address) throw new ServiceError('suppressionEmailInvalid')
  const { key, domain } = address
  const hashed = await forgotten.entries({ accountId, key, group: group ?? null })
  return [
    ...hashed.map((entry): MatchingSuppression => {
      return { ...entry, scope: entry.group > 0 ? 'group' : 'address', value: key, cause: null, global: false }
    }),
    ...(await selectHolding(sql, { accountId, key, domain, group })),
  ]
}
