import { syncBuiltinESMExports } from 'node:module'
import worker from 'node:worker_threads'
import t from 'tap'

const threads: worker.Worker[] = []
const { Worker } = worker
worker.Worker = class extends Worker {
  constructor(...options: ConstructorParameters<typeof Worker>) {
    super(...options)
    threads.push(this)
  }
}
syncBuiltinESMExports()
const { createLetterThread } = await import('../../../packages/core/src/messages/letter-thread.ts')

t.test('a thread that ends between two letters is followed by another', async (t) => {
  const letters = createLetterThread({
    secretKey: 's'.repeat(40),
    publicUrl: 'http://a.example',
    trackingScheme: 'http',
  })
  t.teardown(() => letters.close())
  const letter = {
    message: { id: 'no message' },
    delivery: { recipient: 'lena@harbor.example', recipientNo: 0, personal: null },
  } as unknown as Parameters<typeof letters.write>[0]
  // Each is refused, as there is nothing to write: an answer all the same.
  const answered = () =>
    letters.write(letter).then(
      () => true,
      (error: Error) => !error.message.includes('ended'),
    )
  t.ok(await answered())
  await threads[0]?.terminate()
  t.ok(await answered())
  t.ok(await answered())
  t.equal(threads.length, 2)
})
