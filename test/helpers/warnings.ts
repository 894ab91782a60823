import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { Test } from 'tap'

/** Warnings of Node that name a fault of ours: a wrongly computed delay, a listener that is added again and again. */
export const FAULTS = /\b(?:Timeout(?:Negative|NaN|Overflow)|MaxListenersExceeded)Warning\b/

/** Fails the test as soon as a process prints such a warning. */
export function failOnWarnings(t: Test, stderr: Readable): void {
  createInterface({ input: stderr }).on('line', (line) => {
    if (FAULTS.test(line)) t.fail(line)
  })
}
