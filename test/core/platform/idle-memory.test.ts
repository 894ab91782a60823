import t from 'tap'
import { idleCollector } from '../../../packages/core/src/platform/process/idle-memory.ts'

const MB = 1024 * 1024

/** A process whose figures the test sets; a collection leaves 40 MB. */
function makeProcess() {
  const figures = { time: 0, now: 0, memory: 60 * MB, collections: 0 }
  const look = idleCollector({
    processorTime: () => figures.time,
    now: () => figures.now,
    memory: () => figures.memory,
    collect() {
      figures.collections++
      figures.memory = 40 * MB
    },
  })
  /** Half a minute in which it uses so many milliseconds of processor time. */
  const passes = (used: number) => {
    figures.time += used
    figures.now += 30_000
    look()
    return figures.collections
  }
  return { figures, passes }
}

t.test('a process that has become idle collects its garbage, once', async (t) => {
  const { figures, passes } = makeProcess()
  t.equal(passes(2000), 0, 'not while it works')
  t.equal(passes(300), 1)
  t.equal(passes(300), 1, 'there is no more')
  figures.memory = 47 * MB
  t.equal(passes(300), 1, 'nor when it grew a little')
  figures.memory = 90 * MB
  t.equal(passes(20_000), 1, 'while it works, V8 decides')
  t.equal(passes(300), 2)
})
