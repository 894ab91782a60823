import type { Core } from '@postrider/core'
import { until } from './until.ts'

/** Requests the erasure of recipients and does the work. A request is taken only once transactions that were running when it was made have ended. */
export async function erase(core: Core, accountId: number, emails: readonly string[]): Promise<void> {
  const { id } = await core.privacy.forget(accountId, emails)
  await until('the recipients to be erased', async () => {
    await core.privacy.forgetSome()
    return (await core.privacy.request(accountId, id)).state === 'done'
  })
}
