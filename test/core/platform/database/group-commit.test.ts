import { createGroupCommit } from '@postrider/core'
import t from 'tap'
import { until } from '../../../helpers/until.ts'

interface Item {
  readonly name: string
  readonly weight?: number
  /** The database can't take it. */
  readonly bad?: boolean
}

class Away extends Error {}

/** A group commit over a database in the test's hand: each write waits until the test lets it go. */
function makeCommit({ lanes = 1, maxItems = 3, maxWeight = 100, gatherTimeout = 1 } = {}) {
  const batches: string[] = []
  const waiting: ((error?: Error) => void)[] = []
  const state = { open: 0, mostOpen: 0 }
  const commit = createGroupCommit<Item, string>({
    lanes,
    maxItems,
    maxWeight,
    gatherTimeout,
    weigh: ({ weight = 1 }) => weight,
    sharedFault: (error) => error instanceof Away,
    write: async (batch) => {
      batches.push(batch.map(({ name }) => name).join(''))
      state.mostOpen = Math.max(state.mostOpen, ++state.open)
      const error = await new Promise<Error | undefined>((resolve) => waiting.push(resolve))
      state.open--
      if (error) throw error
      if (batch.some(({ bad }) => bad)) throw new Error('a row the database can not take')
      return batch.map(({ name }) => `${name} is in`)
    },
  })
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  return {
    commit,
    batches,
    state,
    add: (...names: string[]) => names.map((name) => commit.add({ name })),
    /** Ends the oldest open write. */
    async end(error?: Error) {
      await turn()
      waiting.shift()?.(error)
      await turn()
    },
    async endAll() {
      for (await turn(); waiting.length > 0; await turn()) waiting.shift()?.()
    },
  }
}

t.test('an item alone is written at once, without waiting for company', async (t) => {
  const { add, batches, end } = makeCommit()
  const [a] = add('a')
  t.strictSame(batches, ['a'])
  await end()
  t.equal(await a, 'a is in')
})

t.test('what comes while a commit runs is written together in the next one, each with its own answer', async (t) => {
  const { add, batches, end } = makeCommit()
  const all = [...add('a'), ...add('b', 'c')]
  t.strictSame(batches, ['a'])
  await end()
  t.strictSame(batches, ['a', 'bc'])
  await end()
  t.strictSame(await Promise.all(all), ['a is in', 'b is in', 'c is in'])
})

t.test('no response is sent before the commit that holds the item', async (t) => {
  const { add, end } = makeCommit()
  const answered: string[] = []
  for (const item of add('a', 'b')) void item.then((answer) => answered.push(answer))
  await new Promise((resolve) => setTimeout(resolve, 20))
  t.strictSame(answered, [])
  await end()
  t.strictSame(answered, ['a is in'])
  await end()
  t.strictSame(answered, ['a is in', 'b is in'])
})

t.test('batches keep the order of arrival and hold no more than maxItems', async (t) => {
  const { add, batches, endAll } = makeCommit()
  const all = add(...'abcdefgh')
  await endAll()
  t.strictSame(batches, ['a', 'bcd', 'efg', 'h'])
  t.strictSame(
    await Promise.all(all),
    [...'abcdefgh'].map((name) => `${name} is in`),
  )
})

t.test('a batch ends before it weighs more than maxWeight, but an item heavier than that goes alone', async (t) => {
  const { commit, batches, endAll } = makeCommit({ maxItems: 10 })
  const weights = [1, 60, 30, 20, 500, 5, 95, 1]
  const all = weights.map((weight, at) => commit.add({ name: 'abcdefgh'[at] as string, weight }))
  await endAll()
  t.strictSame(batches, ['a', 'bc', 'd', 'e', 'fg', 'h'])
  await Promise.all(all)
})

t.test('one item the database cannot take fails alone: the others of its batch are written one by one', async (t) => {
  const { commit, batches, endAll } = makeCommit({ maxItems: 4 })
  const first = commit.add({ name: 'a' })
  const rest = [{ name: 'b' }, { name: 'c', bad: true }, { name: 'd' }, { name: 'e' }].map((item) => commit.add(item))
  const settled = Promise.allSettled([first, ...rest])
  await endAll()
  t.strictSame(
    (await settled).map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason.message)),
    ['a is in', 'b is in', 'a row the database can not take', 'd is in', 'e is in'],
  )
  t.strictSame(batches, ['a', 'bcde', 'b', 'c', 'd', 'e'])
  t.equal(commit.size, 0)
})

t.test('when the database is away the whole batch fails at once, and the next item tries again', async (t) => {
  const { add, batches, end, commit } = makeCommit()
  const [a] = add('a')
  const rest = Promise.allSettled(add('b', 'c', 'd'))
  await end()
  await end(new Away('away'))
  t.equal(await a, 'a is in')
  t.strictSame(
    (await rest).map((outcome) => outcome.status),
    ['rejected', 'rejected', 'rejected'],
  )
  t.strictSame(batches, ['a', 'bcd'])
  const [e] = add('e')
  await end()
  t.equal(await e, 'e is in')
  t.equal(commit.size, 0)
})

t.test('a second lane opens only when a full batch waits, and never a third one', async (t) => {
  const { add, batches, state, endAll } = makeCommit({ lanes: 2 })
  const all = add('a', 'b', 'c')
  t.strictSame(batches, ['a'], 'two are waiting: no full batch')
  all.push(...add('d'))
  t.strictSame(batches, ['a', 'bcd'], 'the third one makes it full')
  all.push(...add('e', 'f', 'g', 'h'))
  t.equal(state.open, 2)
  await endAll()
  await Promise.all(all)
  t.equal(state.mostOpen, 2)
  t.equal(batches.join(''), 'abcdefgh')
})

t.test('size counts what is not yet committed', async (t) => {
  const { add, commit, end } = makeCommit()
  const all = add('a', 'b', 'c')
  t.equal(commit.size, 3)
  await end()
  t.equal(commit.size, 2)
  await end()
  t.equal(commit.size, 0)
  await Promise.all(all)
})

t.test('ten thousand items at once all get their own answer', async (t) => {
  const commit = createGroupCommit<number, number>({
    lanes: 2,
    maxItems: 128,
    maxWeight: 1000,
    weigh: () => 1,
    sharedFault: () => false,
    write: async (batch) => {
      await new Promise((resolve) => setImmediate(resolve))
      return batch.map((item) => item * 2)
    },
  })
  const answers = await Promise.all(Array.from({ length: 10_000 }, (_, item) => commit.add(item)))
  t.ok(answers.every((answer, item) => answer === item * 2))
})

const WIDE = { lanes: 1, maxItems: 100, maxWeight: 100, weigh: () => 1, sharedFault: () => false }

t.test('spaced commits begin apart, the first at once, and a full batch waits for no spacing', async (t) => {
  const begun: number[] = []
  const spaced = createGroupCommit<Item, string>({
    ...WIDE,
    maxItems: 3,
    spacing: 60_000,
    write: async (batch) => {
      begun.push(batch.length)
      return batch.map(({ name }) => name)
    },
  })
  t.equal(await spaced.add({ name: 'a' }), 'a', 'at once')
  const [b, c, d] = ['b', 'c', 'd'].map((name) => spaced.add({ name }))
  t.strictSame([await b, await c, await d], ['b', 'c', 'd'], 'a full batch is written')
  t.strictSame(begun, [1, 3])
  const near = createGroupCommit<Item, string>({
    ...WIDE,
    spacing: 40,
    write: async (batch) => {
      const now = String(performance.now())
      return batch.map(() => now)
    },
  })
  const first = Number(await near.add({ name: 'a' }))
  const later = await Promise.all(['b', 'c'].map((name) => near.add({ name })))
  t.equal(later[0], later[1], 'together')
  t.ok(Number(later[0]) - first > 30, 'and later')
})

t.test('a prompt item ends the spacing, for those that wait with it, too', async (t) => {
  const begun: number[] = []
  const spaced = createGroupCommit<Item, string>({
    ...WIDE,
    spacing: 60_000,
    promptSpacing: 40,
    write: async (batch) => {
      begun.push(performance.now())
      return batch.map(({ name }) => name)
    },
  })
  await spaced.add({ name: 'a' })
  const waiting = spaced.add({ name: 'b' })
  t.equal(await spaced.add({ name: 'c' }, { isPrompt: true }), 'c')
  t.equal(await waiting, 'b')
  t.equal(begun.length, 2, 'in one commit')
  const [first = 0, second = 0] = begun
  t.ok(second - first > 30, 'which begins apart from the last one, too')
  let isWritten = false
  void spaced.add({ name: 'd' }).then(() => (isWritten = true))
  await new Promise((resolve) => setTimeout(resolve, 100))
  t.notOk(isWritten, 'the next that is not prompt waits')
  await spaced.add({ name: 'e' }, { isPrompt: true })
})

t.test('after a large batch the next one waits until half as many items are there', async (t) => {
  const { add, batches, end } = makeCommit({ maxItems: 50, gatherTimeout: 60_000 })
  const all = add('.', ...'abcdefghijklmnop')
  await end()
  await end()
  all.push(...add(...'qrstuvw'))
  t.equal(batches.length, 2, 'seven are not half of sixteen')
  all.push(...add('x'), ...add('y'))
  await end()
  t.equal(batches[2], 'qrstuvwxy')
  await Promise.all(all)
})

t.test('but not for long', async (t) => {
  const { add, batches, end } = makeCommit({ maxItems: 50 })
  const all = add('.', ...'abcdefghijklmnop')
  await end()
  await end()
  all.push(...add('z'))
  await until('its batch', () => batches.length === 3)
  await end()
  await Promise.all(all)
  t.equal(batches[2], 'z')
})

t.test('while one lane gathers, the other one leaves it what comes', async (t) => {
  const { add, batches, end } = makeCommit({ lanes: 2, maxItems: 20, gatherTimeout: 60_000 })
  const all = add('.', ...'abcdefghijklmnopqrst', ...'ABCDEFGHIJKLMNOPQRST')
  t.equal(batches.length, 2, 'both lanes are in use')
  // The first lane writes the next full batch, the second one gathers.
  await end()
  await end()
  all.push(...add('x'))
  await end()
  t.equal(batches.length, 3, 'neither lane writes one alone')
  all.push(...add(...'123456789'))
  await end()
  t.equal(batches[3], 'x123456789')
  await Promise.all(all)
})

t.test('when all that waited are too late they are rejected, and nothing is written', async (t) => {
  const written: string[] = []
  let end: () => void = () => {}
  const commit = createGroupCommit<Item, string>({
    lanes: 1,
    maxItems: 3,
    maxWeight: 100,
    weigh: () => 1,
    sharedFault: () => false,
    patience: () => 20,
    late: () => new Error('too late'),
    write: async (batch) => {
      written.push(batch.map(({ name }) => name).join(''))
      await new Promise<void>((resolve) => (end = resolve))
      return batch.map(({ name }) => name)
    },
  })
  const first = commit.add({ name: 'a' })
  const late = Promise.allSettled([commit.add({ name: 'b' }), commit.add({ name: 'c' })])
  await new Promise((resolve) => setTimeout(resolve, 40))
  end()
  t.equal(await first, 'a')
  t.match(await late, [{ reason: { message: 'too late' } }, { reason: { message: 'too late' } }])
  await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(written, ['a'])
  t.equal(commit.size, 0)
})

t.test(
  'what waits too long is refused while a write hangs; the answer to what is being written is its outcome',
  async (t) => {
    let end: () => void = () => {}
    let patience = 60_000
    const commit = createGroupCommit<Item, string>({
      lanes: 1,
      maxItems: 3,
      maxWeight: 100,
      weigh: () => 1,
      sharedFault: () => true,
      patience: () => patience,
      late: () => new Error('too late'),
      write: async (batch) => {
        await new Promise<void>((resolve) => (end = resolve))
        return batch.map(({ name }) => name)
      },
    })
    const first = commit.add({ name: 'a' })
    const queued = [commit.add({ name: 'b' }), commit.add({ name: 'c' })]
    await new Promise((resolve) => setTimeout(resolve, 50))
    // As when the database is found to be away: what was borne until now is too long.
    patience = 20
    const late = { status: 'rejected', reason: { message: 'too late' } }
    t.match(await Promise.allSettled(queued), [late, late])
    t.equal(commit.size, 1, 'the one whose write hangs')
    end()
    t.equal(await first, 'a')
  },
)

t.test('a batch whose outcome is not known for long lets the next ones be written, a few at most', async (t) => {
  const written: string[] = []
  const ends: (() => void)[] = []
  const commit = createGroupCommit<Item, string>({
    lanes: 1,
    maxItems: 1,
    maxWeight: 100,
    weigh: () => 1,
    sharedFault: () => true,
    write: async (batch, { release }) => {
      written.push(batch.map(({ name }) => name).join(''))
      release()
      await new Promise<void>((resolve) => ends.push(resolve))
      return batch.map(({ name }) => name)
    },
  })
  const all = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => commit.add({ name }))
  await new Promise((resolve) => setImmediate(resolve))
  t.ok(written.length > 1 && written.length < 6, `${written.length} at once`)
  t.equal(commit.size, 6)
  for (let ended = 0; ended < 6; ended++) {
    ends.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  t.strictSame(await Promise.all(all), ['a', 'b', 'c', 'd', 'e', 'f'])
})
