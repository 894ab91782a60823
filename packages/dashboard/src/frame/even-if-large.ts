import { BeyondShare } from '@postrider/core'
import type { AccountCall } from './call.ts'

/**
 * Acts, or lets the operation of v2 that does the same act, if it is more than the process does for one call while others wait. Resolves with
 * what both have in common.
 */
export async function evenIfLarge<T>(
  call: AccountCall,
  act: () => Promise<T>,
  { path, input = {} }: { readonly path: string; readonly input?: object },
): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof BeyondShare)) throw error
    const { account, address, core, doLargeWork, visitor } = call
    const principal = await core.people.principal(visitor, account.id)
    if (!principal) throw error
    return (await doLargeWork({ principal, address, path, input })) as T
  }
}
