import type { Test } from 'tap'
import { ownCpu } from './turns.ts'

/**
 * Milliseconds of the smaller input up to which what the larger one leaves to the garbage collector decides, more than how it grows:
 * 50 kB of keys take eight times as long as 25 kB, and half as long as 100 kB.
 */
const COARSE = 8
const ROUNDS = 40

/**
 * Checks that four times as much takes no more than six times as long, and less than 100 ms of computing. What is linear meets
 * this in one of many rounds even where others use the processor and its caches; what is quadratic never does.
 */
export function takesLinearTime(t: Test, act: (times: 1 | 4) => unknown): void {
  let once = Number.POSITIVE_INFINITY
  let four = Number.POSITIVE_INFINITY
  const isLinear = () => four < 6 * Math.max(once, COARSE) && four < 100
  for (let round = 0; round < ROUNDS && (round < 3 || !isLinear()); round++) {
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
