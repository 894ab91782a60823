import { until } from '../helpers/until.ts'
import type { TestWorker } from '../helpers/worker.ts'
import type { Internet } from './outbox.ts'

let markers = 0

/**
 * Waits until the worker works with the sources, pools and rules as they are now. It reads them together, and logs which sources its host
 * has when these are others than before: so one more is added, to a pool of its own, and removed when the log has it.
 */
export async function untilSourcesRead({ service, worker }: Internet<TestWorker>): Promise<void> {
  const { sources } = service.core
  const name = `marker-${++markers}`
  await sources.addPool(name, {})
  await sources.add({ name, address: `127.1.0.${markers}`, helo: `${name}.example.com`, pool: name })
  await until('the worker to have read the sources', () =>
    worker.log.some(
      (line) => line.msg === 'source addresses of this host' && (line.sources as readonly string[]).includes(name),
    ),
  )
  await sources.remove(name)
  await sources.removePool(name)
}
