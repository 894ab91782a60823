import type { FailedAddress, FailureFilter, FailureKind, SuppressionReason } from '@postrider/core'
import type { Call } from '../operation.ts'

/** A page of a list, or some of its addresses in lower case. */
type Asked = Omit<FailureFilter, 'kind'>

/** Where the addresses of one of v3's lists come from. */
export interface AddressList {
  /** Returns a page, sorted by address. */
  browse(call: Call, asked: Asked): Promise<readonly FailedAddress[]>
  count(call: Call, asked: Asked): Promise<number>
  /** Removes these addresses, in lower case, or all. Returns how many were on the list. */
  remove(call: Call, emails?: readonly string[]): Promise<number>
}

/** Addresses removed per transaction. */
const BATCH_SIZE = 5000

/** The suppressions of all mail with these reasons. */
export function suppressedFor(reasons: readonly SuppressionReason[]): AddressList {
  const list: AddressList = {
    browse: ({ core, principal }, asked) =>
      core.suppressions.browse(principal.account.id, { ...asked, reasons, group: 0 }),
    count: ({ core, principal }, asked) =>
      core.suppressions.countBrowsed(principal.account.id, { ...asked, reasons, group: 0 }),
    async remove(call, named) {
      const { core, principal, by } = call
      let removed = 0
      for (let at = 0; named === undefined || at < named.length; at += BATCH_SIZE) {
        const emails = named?.slice(at, at + BATCH_SIZE)
        const found = (await list.browse(call, { emails, limit: BATCH_SIZE, offset: 0 })).map(({ email }) => email)
        if (found.length === 0 && named === undefined) break
        if (found.length === 0) continue
        const count = await core.suppressions.removeAll({
          accountId: principal.account.id,
          emails: found,
          reasons,
          by,
        })
        if (count === 0 && named === undefined) break
        removed += count
      }
      return removed
    },
  }
  return list
}

/** Addresses with failures that do not suppress them. */
export function failedWith(kind: FailureKind): AddressList {
  return {
    browse: ({ core, principal }, asked) => core.failures.browse(principal.account.id, { ...asked, kind }),
    count: ({ core, principal }, asked) => core.failures.count(principal.account.id, { ...asked, kind }),
    async remove({ core, principal, by }, named) {
      const accountId = principal.account.id
      if (named === undefined) return core.failures.clear({ accountId, kind, by })
      let removed = 0
      for (let at = 0; at < named.length; at += BATCH_SIZE)
        removed += await core.failures.clear({ accountId, kind, emails: named.slice(at, at + BATCH_SIZE), by })
      return removed
    },
  }
}
