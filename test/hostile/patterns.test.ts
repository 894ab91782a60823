import { readFileSync } from 'node:fs'
import t from 'tap'
import { BOUNDED } from './patterns/bounded.ts'
import { slowest } from './patterns/measure.ts'
import { meetsOf } from './patterns/meets.ts'
import { page } from './patterns/page.ts'
import { proven } from './patterns/proofs.ts'
import { patternsOf } from './patterns/scan.ts'

const patterns = patternsOf()
const linear = proven()
/** Figures of a machine that others use; nothing that is quadratic is near them. */
const MOST_MS = 100
const LENGTH = 25_000

t.test('every regular expression has a proof or a bound, and what it meets is written down', async (t) => {
  for (const { file, written } of patterns) {
    if (!linear.has(written)) t.ok(BOUNDED[written], `${file}: ${written}: run npm run docs, or bound it in bounded.ts`)
    if (!meetsOf(file)) t.fail(`${file}: what do its patterns meet? Say it in meets.ts`)
  }
  const known = new Set(patterns.map(({ written }) => written))
  t.strictSame(
    Object.keys(BOUNDED).filter((written) => !known.has(written)),
    [],
    'no bound is left of a pattern that is gone',
  )
})

t.test('docs/patterns.md is what npm run docs makes of the code', async (t) => {
  const written = readFileSync(new URL('../../docs/patterns.md', import.meta.url), 'utf8')
  t.ok(written === page(patterns, linear), 'run npm run docs')
})

t.test('no pattern takes more than 100 ms at its bound, whatever the text', async (t) => {
  for (const { file, written, source, flags } of patterns) {
    const bound = BOUNDED[written]
    if (!bound || source === '') continue
    const { ms, text } = slowest({ source, flags }, bound.longest, bound.attack)
    t.ok(ms <= MOST_MS, `${file}: ${written}: ${Math.round(ms)} ms for ${JSON.stringify(text.slice(0, 40))}`)
  }
})

t.test('no pattern takes sixteen times as long for four times the text', async (t) => {
  const seen = new Set<string>()
  for (const { file, written, source, flags } of patterns) {
    if (source === '' || seen.has(written) || (BOUNDED[written]?.longest ?? LENGTH * 4) < LENGTH * 4) continue
    seen.add(written)
    const long = slowest({ source, flags }, LENGTH * 4)
    if (long.ms <= MOST_MS / 4) continue
    const short = slowest({ source, flags }, LENGTH)
    t.ok(
      long.ms / short.ms <= 6,
      `${file}: ${written}: ${short.ms} ms, ${long.ms} ms for ${JSON.stringify(long.text.slice(0, 40))}`,
    )
  }
  t.ok(seen.size > 200)
})
