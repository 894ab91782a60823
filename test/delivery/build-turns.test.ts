import { NORMAL } from '@postrider/core'
import t from 'tap'
import { BuildTurns } from '../../packages/delivery/src/message/build-turns.ts'

/** Iterations of the event loop so far. */
let iterations = 0
const counting = (): void => {
  iterations++
  immediate = setImmediate(counting)
}
let immediate = setImmediate(counting)
t.teardown(() => clearImmediate(immediate))

/** Takes a turn for each of the named flows and returns who began in which iteration, the first being 0. */
async function begin(names: string): Promise<string[]> {
  const turns = new BuildTurns()
  const first = iterations
  const began: string[] = []
  await Promise.all(
    [...names].map(async (name) => {
      await turns.take({ accountId: name.charCodeAt(0), class: NORMAL })
      const at = iterations - first
      began[at] = `${began[at] ?? ''}${name}`
    }),
  )
  return began
}

t.test('two messages are built in an iteration of the event loop, the first of them at once', async (t) => {
  const turns = new BuildTurns()
  t.strictSame(
    [turns.take({ accountId: 1, class: NORMAL }), turns.take({ accountId: 1, class: NORMAL })],
    [undefined, undefined],
  )
  t.type(turns.take({ accountId: 1, class: NORMAL }), Promise)
  t.strictSame(await begin('aaaaaaa'), ['aa', 'aa', 'aa', 'a'])
  t.strictSame(await begin('aaa'), ['aa', 'a'], 'and when nothing was built for a while')
})

t.test('a flow with one message goes before the waiting ones of another', async (t) => {
  t.strictSame(await begin('aaaaaaab'), ['aa', 'ab', 'aa', 'aa'])
})
