import type { Core } from '@postrider/core'
import type { Test } from 'tap'

type Deliveries = Core['deliveries']

/** A worker of the test's own process, until the test ends. Its thread would keep the process for another minute. */
export async function registerWorker(
  t: Pick<Test, 'teardown'>,
  core: { readonly deliveries: Pick<Deliveries, 'register'> },
  host = 'worker.example',
): ReturnType<Deliveries['register']> {
  const lease = await core.deliveries.register({ host, pid: process.pid })
  t.teardown(() => lease.release().catch(() => {}))
  return lease
}
