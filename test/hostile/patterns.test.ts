import t from 'tap'
import { BOUNDED } from './patterns/bounded.ts'
import { report } from './patterns/check.ts'
import { slowest } from './patterns/measure.ts'
import { meetsOf } from './patterns/meets.ts'
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

t.test('the check reports the reason of each pattern, and no proof is left of one that is gone', async (t) => {
  const lines = report(patterns, linear).split('\n')
  for (const { written } of patterns) t.ok(lines.includes(`  ${written.split('\n')[0]}`), written)
  const reasons = lines.filter((line) => /^ {4}(linear$|at most [\d,]+ characters: )/.test(line))
  t.equal(reasons.length, patterns.length)
  t.match(report([{ file: 'packages/api/src/a.ts', written: '/new/', source: 'new', flags: '' }], linear), /NEITHER/)
  const known = new Set(patterns.map(({ written }) => written))
  const gone = [...linear].filter((written) => !known.has(written))
  t.strictSame(gone, [], 'run npm run docs')
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
