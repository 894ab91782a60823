/** Waits until `look` answers something, asking again and again. Throws when it takes longer than `within` milliseconds. */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  within = 15_000,
): Promise<T> {
  const deadline = Date.now() + within
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (Date.now() > deadline) throw new Error(`waited ${within} ms for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}
