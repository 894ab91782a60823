import t from 'tap'
import {
  hasEnded,
  identityOf,
  isStillRunning,
  startIn,
} from '../../../packages/core/src/platform/process/process-identity.ts'

/** A line of /proc/PID/stat. */
const statOf = (state: string, threads: number) =>
  `7 (a (b) c) ${state} 1 7 7 0 -1 4194304 1 0 0 0 2 1 0 0 20 0 ${threads} 0 123456 0 0\n`

t.test('a zombie has ended as soon as its last thread has', async (t) => {
  t.equal(startIn(statOf('S', 1)), '123456')
  t.equal(startIn(statOf('Z', 11)), '123456', 'its threads still have its ports')
  t.equal(startIn(statOf('Z', 1)), undefined)
  t.equal(startIn(statOf('X', 0)), undefined)
  t.equal(startIn(undefined), undefined, 'there is none')
})

t.test('of a process of another host, container or start of the host nothing is known', async (t) => {
  const own = identityOf(process.pid)
  t.strictSame([isStillRunning(own), hasEnded(own)], [true, false])
  const earlier = { ...own, startedAt: '1' }
  t.strictSame([isStillRunning(earlier), hasEnded(earlier)], [false, true], 'its pid is that of another one now')
  for (const one of [
    { ...earlier, place: 'elsewhere' },
    { ...earlier, startedAt: '-' },
  ])
    t.strictSame([isStillRunning(one), hasEnded(one)], [false, false])
})
