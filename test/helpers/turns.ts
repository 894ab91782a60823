import { setImmediate as nextTurn } from 'node:timers/promises'

/** What something cost this thread, in milliseconds of processor time, which other processes have no part in. */
export interface Cost {
  readonly all: number
  /** Of the longest turn of the loop: so long nobody else was served. */
  readonly longest: number
}

/**
 * Runs something in this process, from a turn of its own on, and measures it. The immediates that look on do not keep the loop awake:
 * waiting costs nothing. Throws what it throws.
 */
export async function costOf(act: () => unknown): Promise<Cost> {
  await nextTurn()
  const began = ownCpu()
  let [last, longest, over] = [began, 0, false]
  const look = (): void => {
    const now = ownCpu()
    longest = Math.max(longest, now - last)
    last = now
    if (!over) setImmediate(look).unref()
  }
  setImmediate(look).unref()
  try {
    await act()
  } finally {
    over = true
  }
  // The turn it ended in is looked at too.
  await nextTurn()
  return { all: last - began, longest }
}

/** Milliseconds of processor time this thread has spent. */
export function ownCpu(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
