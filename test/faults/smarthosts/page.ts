import { readFileSync } from 'node:fs'

const PAGE = readFileSync(new URL('../../../docs/smarthost.md', import.meta.url), 'utf8')

/** What the page calls `example.com`, `KEY` and port 2525. */
export interface Smarthost {
  readonly domain: string
  readonly key: string
  readonly port: number
}

/** A configuration as docs/smarthost.md has it, for the smarthost of a test. */
export interface Page {
  /** The block under a heading. */
  block(heading: string): string
  /** Words of its text, which have to be there. */
  text(quoted: string): string
}

export function pageFor({ domain, key, port }: Smarthost): Page {
  const filled = (text: string): string =>
    text
      .replace(/(?<!relay\.)example\.com/g, domain)
      .replace(/\bKEY\b/g, key)
      .replace(/\b2525\b/g, String(port))
  return {
    block(heading) {
      const section = PAGE.split(/^## /m).find((one) => one.startsWith(`${heading}\n`))
      const block = section && /^```\n([\s\S]*?)^```$/m.exec(section)?.[1]
      if (!block) throw new Error(`docs/smarthost.md has no block under ${heading}`)
      return filled(block)
    },
    text(quoted) {
      if (!PAGE.includes(quoted)) throw new Error(`docs/smarthost.md does not have: ${quoted}`)
      return filled(quoted)
    },
  }
}
