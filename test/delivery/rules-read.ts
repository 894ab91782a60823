import type { Test } from 'tap'
import { until } from '../helpers/until.ts'
import type { TestWorker } from '../helpers/worker.ts'
import type { Internet } from './outbox.ts'

/**
 * Waits until the worker knows the TLS rules as they are now. It reads all of them together, so it knows them once it obeys one set after
 * them. That one is for a host of its own, since failures make the worker leave a host alone.
 */
export async function untilRulesRead(t: Test, internet: Internet<TestWorker>): Promise<void> {
  const { tls } = internet.service.core
  const marker = { accountId: null, domain: internet.domain([await internet.host(t)]) }
  await tls.set(marker, 'dane')
  await until('the rules to be read', async () => {
    const { attempts } = await internet.attempted(await internet.send(`a@${marker.domain}`))
    return attempts[0]?.tlsPolicy === 'dane'
  })
  await tls.set(marker, 'none')
}
