import { invalidParameter } from '../../platform/errors.ts'
import type { DynamicRenderer } from '../engine/index.ts'
import { MOST_CONVERTED } from '../engine/plain-text-limit.ts'

class Wanted extends Error {
  readonly html: string

  constructor(html: string) {
    super('plain text is wanted')
    this.html = html
  }
}

/**
 * Runs a transaction that may want plain text of HTML it only knows then. It is rolled back when it asks, and run again with the
 * text: a thread makes it, and no transaction waits for a thread.
 *
 * Throws parameterInvalid (html) when the text takes too long to make, overloaded.
 */
export async function makingPlain<T>(
  renderer: Pick<DynamicRenderer, 'plainText'>,
  transaction: (plainOf: (html: string) => string) => Promise<T>,
): Promise<T> {
  const made = new Map<string, string>()
  const plainOf = (html: string): string => {
    if (html === '' || html.length > MOST_CONVERTED) return ''
    const plain = made.get(html)
    if (plain === undefined) throw new Wanted(html)
    return plain
  }
  for (;;) {
    try {
      return await transaction(plainOf)
    } catch (error) {
      if (!(error instanceof Wanted)) throw error
      const plain = await renderer.plainText(error.html)
      if (plain === undefined) {
        throw invalidParameter('html', 'plain text takes too long to generate; provide it, or disable its generation')
      }
      made.set(error.html, plain)
    }
  }
}
