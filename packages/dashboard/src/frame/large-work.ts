import { BeyondShare, type Principal } from '@postrider/core'
import type { AccountCall } from './call.ts'

/** An operation of v2 that a visitor may use, and what it is given. */
export interface LargeWork {
  readonly principal: Principal
  /** IP address of the visitor. */
  readonly address: string
  /** `/messages/ID/resend`. */
  readonly path: string
  readonly input: object
}

/** Does something by an operation of v2, in a thread of its own, and resolves with its `data`. Throws {@link WorkRefused}. */
export type DoLargeWork = (work: LargeWork) => Promise<unknown>

/** The operation was refused, with this status and text. */
export class WorkRefused extends Error {
  readonly status: number

  constructor(status: number, text: string) {
    super(text)
    this.name = 'WorkRefused'
    this.status = status
  }
}

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
