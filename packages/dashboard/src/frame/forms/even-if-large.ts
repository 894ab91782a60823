import { BeyondShare, type Scope } from '@postrider/core'
import type { AccountCall } from '../call.ts'

interface SameOperation {
  /** `/messages/ID/resend`. */
  readonly path: string
  /** The scope that the operation needs of a key. The page's own right has been decided already, and may be another one. */
  readonly scope: Scope
  readonly input?: object
}

/**
 * Acts, or lets the operation of v2 that does the same act, if it is more than the process does for one call while others wait. Resolves with
 * what both have in common.
 */
export async function evenIfLarge<T>(
  call: AccountCall,
  act: () => Promise<T>,
  { path, scope, input = {} }: SameOperation,
): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof BeyondShare)) throw error
    const { account, address, core, doLargeWork, visitor } = call
    const principal = await core.people.principal(visitor, account.id)
    if (!principal) throw error
    return (await doLargeWork({ principal: { ...principal, scopes: [scope] }, address, path, input })) as T
  }
}
