import type { Test } from 'tap'
import { ownCpu } from './turns.ts'

/**
 * Milliseconds of the smaller input up to which what the larger one leaves to the garbage collector decides, more than how it grows:
 * 50 kB of keys take eight times as long as 25 kB, and half as long as 100 kB.
 */
const COARSE = 6
const ROUNDS = 40
/** Midway between linear, four times as long, and quadratic, sixteen times. */
const MOST = 8
/** Rounds at once. Later ones wait longer and longer, 22 s in sum: a host that gives its processor to others does so for seconds. */
const AT_ONCE = 10
const LONGER = 50

/**
 * Checks that four times as much takes less than eight times as long, and less than 100 ms of computing. What is linear meets
 * this in one of many rounds even where others use the processor and its caches; what is quadratic never does.
 */
export function takesLinearTime(t: Test, act: (times: 1 | 4) => unknown): void {
  let once = Number.POSITIVE_INFINITY
  let four = Number.POSITIVE_INFINITY
  const isLinear = () => four < MOST * Math.max(once, COARSE) && four < 100
  for (let round = 0; round < ROUNDS && (round < 3 || !isLinear()); round++) {
    if (round > AT_ONCE) pause(LONGER * (round - AT_ONCE))
    once = Math.min(
      once,
      computing(() => act(1)),
    )
    four = Math.min(
      four,
      computing(() => act(4)),
    )
  }
  t.ok(isLinear(), `${once.toFixed(2)} ms, ${four.toFixed(2)} ms`)
}

/** Milliseconds of computing, since others want the processor too. */
function computing(act: () => unknown): number {
  const began = ownCpu()
  act()
  return ownCpu() - began
}

/** Keeps the thread, as what is measured does. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
