import { randomUUID } from 'node:crypto'
import { chooseSource, type Egress, type Pool, type Source, type SourcedMail } from '@postrider/core'
import t from 'tap'

const POOL: Pool = { id: 1, name: 'default', fallbackId: null, isReserved: false }
const EGRESS: Egress = { sources: [], pools: [POOL], rules: [] }
const MAIL = { accountId: 1, class: 1, domainId: 1, tags: [], poolId: null, poolName: undefined } as const
const COUNT = 100_000

function source(id: number, weight: number, poolId = 1): Source {
  const address = `127.0.0.${id + 1}`
  return {
    id,
    name: `mta-${id}`,
    poolId,
    address,
    address6: null,
    bind: null,
    helo: 'mta.example.com',
    weight,
    isPaused: false,
    reason: null,
    workers: 1,
    warmUpPlan: null,
    warmUps: [],
  }
}

/** Deliveries of messages with some recipients each. */
const deliveries: readonly SourcedMail[] = Array.from({ length: COUNT / 10 }, () => randomUUID()).flatMap((messageId) =>
  Array.from({ length: 10 }, (_, recipientNo) => ({ ...MAIL, messageId, recipientNo })),
)
const choices = (egress: Egress, canSend: (source: Source) => boolean = () => true) =>
  deliveries.map((mail) => chooseSource(egress, mail, canSend)?.source.id)

t.test('the shares of sources are those of their weights, within two percent', async (t) => {
  const weights = [10, 20, 30, 40]
  const chosen = choices({ ...EGRESS, sources: weights.map((weight, at) => source(at + 1, weight)) })
  for (const [at, weight] of weights.entries()) {
    const expected = (COUNT * weight) / 100
    const count = chosen.filter((id) => id === at + 1).length
    t.ok(Math.abs(count - expected) < expected * 0.02 + 150, `${count} of ${expected}`)
  }
})

t.test('when a source is paused, added or gets more weight, only the mail that concerns it moves', async (t) => {
  const four = [1, 2, 3, 4].map((id) => source(id, 10))
  const before = choices({ ...EGRESS, sources: four })
  const paused = choices({ ...EGRESS, sources: four }, ({ id }) => id !== 2)
  t.ok(before.every((id, at) => (id === 2 ? paused[at] !== 2 : paused[at] === id)))
  const moved = [1, 3, 4].map((id) => before.filter((was, at) => was === 2 && paused[at] === id).length)
  for (const count of moved) t.ok(Math.abs(count - COUNT / 12) < COUNT / 100, `${count} of a third of its share`)
  const added = choices({ ...EGRESS, sources: [...four, source(5, 10)] })
  t.ok(added.every((id, at) => id === 5 || id === before[at]))
  const heavier = choices({ ...EGRESS, sources: [...four.slice(0, 3), source(4, 20)] })
  t.ok(heavier.every((id, at) => id === 4 || id === before[at]))
})

t.test('two pools that are the fallback of each other do not end in a circle', async (t) => {
  const pools = [
    { ...POOL, fallbackId: 2 },
    { ...POOL, id: 2, name: 'other', fallbackId: 1 },
  ]
  const [mail] = deliveries as [SourcedMail]
  t.match(
    chooseSource({ pools, sources: [source(1, 10)], rules: [] }, mail, () => false),
    {
      source: { id: 1 },
      canSend: false,
    },
  )
  t.match(
    chooseSource({ pools, sources: [source(1, 10), source(2, 10, 2)], rules: [] }, mail, ({ id }) => id === 2),
    {
      source: { id: 2 },
      canSend: true,
    },
  )
  t.equal(
    chooseSource({ pools, sources: [], rules: [] }, mail, () => true),
    undefined,
    'the system chooses',
  )
})

t.test('a pool without sources does not let the system choose: the default pool sends', async (t) => {
  const hollow = { ...POOL, id: 2, name: 'hollow', fallbackId: 3 }
  const pools = [POOL, hollow, { ...POOL, id: 3, name: 'spare' }]
  const [mail] = deliveries as [SourcedMail]
  const egress = { pools, sources: [source(1, 10)], rules: [] }
  t.match(
    chooseSource(egress, { ...mail, poolName: 'hollow' }, () => true),
    { source: { id: 1 }, canSend: true },
  )
})
