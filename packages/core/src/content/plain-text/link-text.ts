import { isSameLink } from './shown-url.ts'
import type { TextWriter } from './text-writer.ts'

/** Writes the address of a link behind its words, unless they are the address. */
export class LinkText {
  readonly #writer: TextWriter
  #url: string | undefined

  constructor(writer: TextWriter) {
    this.#writer = writer
  }

  begin(url: string): void {
    this.#url = url
    this.#writer.mark()
  }

  end(): void {
    const url = this.#url
    if (url === undefined) return
    this.#url = undefined
    const words = this.#writer.marked(2 * url.length + 64)
    if (words === '') this.#writer.text(` ${url} `)
    else if (words !== undefined && isSameLink(words, url)) this.#writer.replaceMarked(url)
    else if (!words?.includes(url)) this.#writer.after(` (${url})`)
  }
}
