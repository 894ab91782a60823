import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import t from 'tap'

t.test('pages of the heap that a thread no longer uses are returned to the system', async (t) => {
  const thread = new Worker(new URL('./garbage-thread.ts', import.meta.url), { execArgv: [] })
  const [{ before, filled, after }] = (await once(thread, 'message')) as [Record<'before' | 'filled' | 'after', number>]
  await thread.terminate()
  const [taken, kept] = [filled - before, after - before]
  t.ok(taken > 100, `${taken.toFixed(0)} MiB taken`)
  // A collection alone keeps nine tenths of them.
  t.ok(kept < taken / 3, `${kept.toFixed(0)} of ${taken.toFixed(0)} MiB kept`)
})
