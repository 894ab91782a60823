import { NORMAL } from '@postrider/core'
import t from 'tap'
import { Conversations } from '../../packages/delivery/src/destinations/conversations.ts'

/** Conversations that a new worker has at once; no time passes here in which it could adapt. */
const LIMIT = 32

function flow(accountId: number) {
  return { accountId, class: NORMAL } as const
}

t.test('a flow with few conversations starts some more when others have reached the limit', async (t) => {
  const conversations = new Conversations()
  t.teardown(() => conversations.close())
  for (let at = 0; at < LIMIT; at++) conversations.enter(flow(1))
  t.notOk(conversations.mayStart(flow(1)))
  for (let at = 0; at < 4; at++) {
    t.ok(conversations.mayStart(flow(2)))
    conversations.enter(flow(2))
  }
  t.notOk(conversations.mayStart(flow(2)))
  for (let other = 3; conversations.mayStart(flow(other)); other++) conversations.enter(flow(other))
  for (let at = 0; at < 5; at++) conversations.leave(flow(1))
  t.notOk(conversations.mayStart(flow(1)), 'twice the limit is left for all of them together')
})

t.test('a flow with few conversations starts some however far the limit has fallen', async (t) => {
  const conversations = new Conversations()
  t.teardown(() => conversations.close())
  for (let at = 0; at < 10 * LIMIT; at++) conversations.enter(flow(1))
  t.ok(conversations.mayStart(flow(2)))
  let started = 0
  const waiting = { start: () => started++ }
  conversations.wait(waiting)
  conversations.leave(flow(1))
  t.equal(started, 1, 'and one that waited is asked to')
})

t.test('a site that waits gets its turn, although others use every destination that becomes free', async (t) => {
  const conversations = new Conversations()
  t.teardown(() => conversations.close())
  for (let account = 10; account < 10 + 1.5 * LIMIT; account++) conversations.enter(flow(account))
  let started = 0
  const victim = {
    start() {
      if (!conversations.mayStart(flow(2))) return conversations.wait(victim)
      conversations.enter(flow(2))
      started++
    },
  }
  conversations.wait(victim)
  for (let turn = 0; turn < 10 && started === 0; turn++) {
    conversations.leave(flow(10 + turn))
    conversations.enter(flow(1000 + turn))
  }
  t.equal(started, 1)
})

t.test('a destination that no waiting conversation may use is not offered for ever', async (t) => {
  const conversations = new Conversations()
  t.teardown(() => conversations.close())
  for (let at = 0; at < LIMIT + 10; at++) conversations.enter(flow(1))
  let asked = 0
  for (let site = 0; site < 1000; site++) {
    const waiting = {
      start() {
        asked++
        conversations.wait(waiting)
      },
    }
    conversations.wait(waiting)
  }
  conversations.leave(flow(1))
  t.ok(asked > 0 && asked < 20, `${asked} of 1000`)
})
