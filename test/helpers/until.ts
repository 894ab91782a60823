const SOON_MS = 25
const LATE_MS = 250

/**
 * Waits until `look` answers something, asking again and again. Throws when it takes longer than `within` milliseconds.
 *
 * It asks more rarely the longer it has waited: each look is often several statements, and many of them wait for seconds.
 */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  within = 15_000,
): Promise<T> {
  const began = Date.now()
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    const waited = Date.now() - began
    if (waited > within) throw new Error(`waited ${within} ms for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, Math.min(Math.max(waited / 10, SOON_MS), LATE_MS)))
  }
}
