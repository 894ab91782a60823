import { invalidParameter } from '../../platform/errors.ts'
import type { DynamicRenderer } from '../engine/index.ts'
import { MAX_CONVERTED_LENGTH } from '../engine/plain-text-limit.ts'

class PlainTextNeeded extends Error {
  readonly html: string

  constructor(html: string) {
    super('plain text needed')
    this.html = html
  }
}

/**
 * Runs a transaction that may need the plain text of HTML that is known only within it. If it does, the transaction is
 * rolled back, a thread generates the text, and the transaction runs again with it, so that no transaction waits for a
 * thread.
 *
 * Throws parameterInvalid (html) if generating the text takes too long, or overloaded.
 */
export async function makingPlain<T>(
  { renderer, accountId }: { readonly renderer: Pick<DynamicRenderer, 'plainText'>; readonly accountId: number },
  transaction: (plainOf: (html: string) => string) => Promise<T>,
): Promise<T> {
  const made = new Map<string, string>()
  const plainOf = (html: string): string => {
    if (html === '' || html.length > MAX_CONVERTED_LENGTH) return ''
    const plain = made.get(html)
    if (plain === undefined) throw new PlainTextNeeded(html)
    return plain
  }
  for (;;) {
    try {
      return await transaction(plainOf)
    } catch (error) {
      if (!(error instanceof PlainTextNeeded)) throw error
      const plain = await renderer.plainText(error.html, String(accountId))
      if (plain === undefined) {
        throw invalidParameter('html', 'plain text takes too long to generate; provide it, or disable its generation')
      }
      made.set(error.html, plain)
    }
  }
}
