import { generateKeyPairSync, sign } from 'node:crypto'
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
 * than `limit` is measured again, five times at most, and the shortest counts: work that is too long is so each time, while a
 * collection of the heap that other work brought about, or page faults on a machine short of memory, are not (the same message took
 * 40 ms alone and once 271 ms beside five other files). If it is too long each time, it is returned as what it would have
 * been on the machine on which limits were set ({@link limitHere}).
 */
export async function longestTurnOf<T = undefined>(
  limit: number,
  act: (prepared: T) => unknown,
  prepare?: () => Promise<T>,
): Promise<number> {
  let shortest = Number.POSITIVE_INFINITY
  for (let time = 0; time < 5 && shortest >= limit; time++) {
    const prepared = (await prepare?.()) as T
    const { longest } = await measured(() => act(prepared))
    // The machine is measured each time, since others may have computed on the same core.
    shortest = Math.min(shortest, longest < limit ? longest : (longest * limit) / limitHere(limit))
  }
  return Math.round(shortest)
}

/** Microseconds of an RSA-2048 signature on the machine on which the limits were set. */
const REFERENCE_SIGNATURE = 300
const SIGNATURES = 100
/** Octets of new memory, more than malloc keeps for later use, and milliseconds of their first use there. */
const NEW_MEMORY = 64 * 1024 * 1024
const REFERENCE_MEMORY = 30
/** As often is it used at most, for the largest body: as received, as text, as decoded and as put together, 28 MB each. */
const USES = 2

/**
 * Returns the limit that is as strict on this machine as `limit` milliseconds of processor time are on the one on which limits were set:
 * its processor may be slower, and new memory cost more (a host that takes idle memory back made a page fault cost 20 instead of 0.3 µs,
 * so that a body of 28 MB alone cost 150 ms).
 */
export function limitHere(limit: number): number {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const text = Buffer.alloc(300, 'a')
  sign('sha256', text, privateKey)
  const began = ownCpu()
  for (let done = 0; done < SIGNATURES; done++) sign('sha256', text, privateKey)
  const signed = ownCpu()
  Buffer.alloc(NEW_MEMORY, 'a')
  const slowness = Math.max(1, ((signed - began) * 1000) / SIGNATURES / REFERENCE_SIGNATURE)
  return limit * slowness + USES * Math.max(0, ownCpu() - signed - REFERENCE_MEMORY)
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
  // Linux brings the time of a running thread up to date only every 4 ms, and when the time of its process is asked for.
  process.cpuUsage()
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
