import { convert } from 'html-to-text'
import { MOST_CONVERTED } from './plain-text-limit.ts'

/**
 * The text of HTML, without line breaks of its own. For threads that can be stopped: 256 kB take 60 ms as a rule, and 20 s where
 * tens of thousands of blocks stand in each other.
 */
export function plainTextOf(html: string): string {
  return convert(html, { wordwrap: false, limits: { maxInputLength: MOST_CONVERTED, maxDepth: 100 } })
}
