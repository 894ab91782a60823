import { isInTime } from './pace.ts'

const SOON_MS = 25
const LATE_MS = 250

/**
 * Waits until `look` answers something, asking again and again. Throws when it takes longer than `within` milliseconds, or as
 * much longer as the machine is busy.
 *
 * It asks more rarely the longer it has waited: each look is often several statements, and many of them wait for seconds.
 */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  within = 15_000,
): Promise<T> {
  const began = performance.now()
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    const waited = performance.now() - began
    if (!isInTime(began, within)) throw new Error(`waited ${Math.round(waited)} ms for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, Math.min(Math.max(waited / 10, SOON_MS), LATE_MS)))
  }
}
