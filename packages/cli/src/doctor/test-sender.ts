import type { Core } from '@postrider/core'
import { CommandError } from '../command.ts'
import type { Readings } from './readings.ts'
import type { TestSender } from './send-checks.ts'

/** Milliseconds after which a key for test messages ends, if it could not be revoked. */
const KEY_LIFETIME_MS = 600_000

/**
 * Runs `act` with the sender of the test messages: `from`, or postmaster@ the oldest active domain. The key is POSTRIDER_API_KEY, or one of
 * the domain's account that is revoked afterwards. Throws {@link CommandError} if there is no active domain.
 */
export async function withTestSender<T>(
  core: Core,
  { readings, from }: { readonly readings: Readings; readonly from: string | undefined },
  act: (sender: TestSender) => Promise<T>,
): Promise<T> {
  const domain = from === undefined ? (await readings.domains()).sender : await core.domains.show(domainOf(from))
  if (domain === null)
    throw new CommandError('no sending domain is active, so no test message can be sent; "domain add" adds one')
  const sender = from ?? `postmaster@${domain.name}`
  const given = readings.env.POSTRIDER_API_KEY?.trim()
  if (given) return act({ core, from: sender, key: given })
  const until = new Date(core.clock.now() + KEY_LIFETIME_MS)
  const { accountId } = domain
  const key = await core.auth.createKey({
    accountId,
    name: 'postrider doctor',
    scopes: ['send'],
    restrictions: { until },
  })
  try {
    return await act({ core, from: sender, key: key.secret })
  } finally {
    await core.auth.revokeKey(key.key.id)
  }
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1)
}
