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
  return await measured(act)
}

/**
 * The longest turn, in milliseconds, of an act that can be done again; `prepare` makes what it needs, which is not measured. One longer
 * than `limit` is measured again, three times at most, and the shortest counts: work that is too long is so each time, while a
 * collection of the heap that other work brought about, or page faults on a machine short of memory, are not (the same message took
 * 40 ms alone and once 271 ms beside five other files).
 */
export async function longestTurnOf<T = undefined>(
  limit: number,
  act: (prepared: T) => unknown,
  prepare?: () => Promise<T>,
): Promise<number> {
  let shortest = Number.POSITIVE_INFINITY
  for (let time = 0; time < 3 && shortest >= limit; time++) {
    const prepared = (await prepare?.()) as T
    shortest = Math.min(shortest, (await measured(() => act(prepared))).longest)
  }
  return Math.round(shortest)
}

async function measured(act: () => unknown): Promise<Cost> {
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
