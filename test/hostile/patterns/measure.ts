import { fill } from '../text.ts'
import type { Pattern } from './scan.ts'

/** Texts made to have a pattern begin again and again, and fail late: of its own letters and words, and of what breaks most. */
export function* hostileTexts({ source }: Pick<Pattern, 'source'>, length: number): Generator<string> {
  const words = [...new Set(source.match(/[A-Za-z][A-Za-z -]{2,}/g) ?? [])].slice(0, 8)
  const signs = [...new Set(source.replace(/\\[A-Za-z]/g, '').match(/[^A-Za-z0-9\s]/g) ?? [])].slice(0, 12)
  const units = [...new Set(['a', '0', ' ', '\t', 'a ', '\r\n', '\r\n ', '"', '\\', '\\"', 'é', ...signs, ...words])]
  for (const unit of units) {
    yield fill(unit, length)
    yield `${fill(unit, length)}\n!`
  }
  // A beginning, and then a long run that leads nowhere.
  for (const start of [...signs, ...words]) {
    for (const run of [' ', 'a', '0', ...signs.slice(0, 4)]) yield `${start}${fill(run, length)}\0`
  }
  yield fill(source, length)
  if (words.length > 0) yield fill(words.join(' '), length)
}

/** Milliseconds of processor time of the slowest text, and which one it was. */
export function slowest(
  pattern: Pick<Pattern, 'source' | 'flags'>,
  length: number,
  attack?: string,
): { ms: number; text: string } {
  const expression = new RegExp(pattern.source, pattern.flags)
  let worst = { ms: 0, text: '' }
  const own = attack === undefined ? [] : [fill(attack, length)]
  for (const text of [...own, ...hostileTexts(pattern, length)]) {
    const ms = millisecondsOf(expression, text)
    // Measured twice: what a collection of garbage or compiling the pattern takes comes only once.
    if (ms <= worst.ms) continue
    const again = Math.min(ms, millisecondsOf(expression, text))
    if (again > worst.ms) worst = { ms: again, text }
  }
  return worst
}

function millisecondsOf(expression: RegExp, text: string): number {
  const before = process.cpuUsage()
  run(expression, text)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** As it is used: all matches of a global one. */
function run(expression: RegExp, text: string): void {
  expression.lastIndex = 0
  if (expression.global) text.replace(expression, '')
  else expression.test(text)
}
