import { BOUNDED } from './bounded.ts'
import { meetsOf } from './meets.ts'
import { prove } from './proofs.ts'
import { type Pattern, patternsOf } from './scan.ts'

/** Proves the regular expressions that are new, and prints what `report` finds: those without a proof, or all with `--all`. */
if (import.meta.main) {
  const patterns = patternsOf()
  const linear = prove(patterns)
  const listed = process.argv.includes('--all') ? patterns : patterns.filter(({ written }) => !linear.has(written))
  process.stdout.write(report(listed, linear))
  const proven = patterns.filter(({ written }) => linear.has(written)).length
  console.log(`${patterns.length} regular expressions of the packages, ${proven} of them proven linear by recheck`)
  for (const { file, written } of patterns) {
    if (linear.has(written) || BOUNDED[written]) continue
    console.error(
      `${file}: ${written} has no proof; write it otherwise, or bound it in test/hostile/patterns/bounded.ts`,
    )
    process.exitCode = 1
  }
}

/** By file: what text its patterns meet, how long that may be, and why each pattern does not take longer than it should (V24). */
export function report(patterns: readonly Pattern[], linear: ReadonlySet<string>): string {
  const files = Map.groupBy(patterns, ({ file }) => file)
  const sections = [...files].map(([file, own]) => {
    const meets = meetsOf(file)
    const text = meets ? `meets ${meets.text}, at most ${size(meets.longest)}` : 'what it meets is missing in meets.ts'
    return `${file}: ${text}\n${own.map(({ written }) => `  ${written}\n    ${reason(written, linear)}\n`).join('')}\n`
  })
  return sections.join('')
}

function reason(written: string, linear: ReadonlySet<string>): string {
  const bound = BOUNDED[written]
  if (linear.has(written)) return 'linear'
  return bound ? `at most ${bound.longest.toLocaleString('en')} characters: ${bound.why}` : 'NEITHER PROOF NOR BOUND'
}

function size(octets: number): string {
  if (octets >= 1024 * 1024) return `${Math.round(octets / 1024 / 1024)} MB`
  return octets >= 1024 ? `${Math.round(octets / 1024)} kB` : `${octets} octets`
}
