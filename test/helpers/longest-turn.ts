import { setImmediate } from 'node:timers/promises'

/**
 * Runs `act` and answers how long it kept everything else in this thread waiting at most, in milliseconds of processor time: what
 * others do on the machine does not count.
 */
export async function longestTurn(act: () => Promise<unknown> | unknown): Promise<number> {
  let longest = 0
  let before = ownCpu()
  let done = false
  // It begins in a turn of its own.
  const acting = setImmediate()
    .then(act)
    .finally(() => {
      done = true
    })
  acting.catch(() => {})
  while (!done) {
    await setImmediate()
    const now = ownCpu()
    longest = Math.max(longest, now - before)
    before = now
  }
  await acting
  return longest
}

function ownCpu(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
