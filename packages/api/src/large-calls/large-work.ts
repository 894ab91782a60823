import { type LargeWork, WorkRefused } from '@postrider/dashboard'
import type { LargeCalls } from './index.ts'

/**
 * Does by an operation of v2 what a page asks for, as if it were such a call. Throws {@link WorkRefused}. In a file of its own, since the
 * thread loads index.ts and has no pages.
 */
export async function doLargeWork(
  largeCalls: LargeCalls,
  { principal, address, path, input }: LargeWork,
): Promise<unknown> {
  const { status, value } = await largeCalls.answer({
    principal,
    address,
    agent: null,
    method: 'POST',
    url: `/v2${path}`,
    headers: { 'content-type': 'application/json' },
    octets: new TextEncoder().encode(JSON.stringify(input)),
    wantsValue: true,
  })
  const answer = value as { readonly data: unknown; readonly error_info: { readonly error_message: string } }
  if (status !== 200) throw new WorkRefused(status, answer.error_info.error_message)
  return answer.data
}
