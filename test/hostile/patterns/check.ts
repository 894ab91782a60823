import { BOUNDED } from './bounded.ts'
import { meetsOf } from './meets.ts'
import { type Pattern, patternsOf } from './scan.ts'

const HEAD = `# Regular expressions

Every regular expression of the packages, what text it meets and how long that may be, and why it does not take longer than it should
(V24). Made by \`npm run docs\`; a test holds it against the code.

*linear*: [recheck](https://github.com/makenowjust-labs/recheck) proved that the time grows with the length of the text, wherever a match
may begin. Everything else has a bound, and is measured at that bound with texts made against it: at most 100 ms.
`

/** docs/patterns.md. */
export function page(patterns: readonly Pattern[] = patternsOf(), linear: ReadonlySet<string>): string {
  const files = Map.groupBy(patterns, ({ file }) => file)
  const sections = [...files].map(([file, own]) => {
    const meets = meetsOf(file)
    const rows = own.map(({ written }) => `| ${code(written)} | ${reason(written, linear)} |`)
    const text = meets ? `${meets.text}, at most ${size(meets.longest)}` : 'nobody said what it meets'
    return `\n## ${file}\n\nMeets ${text}.\n\n| pattern | |\n|---|---|\n${rows.join('\n')}\n`
  })
  return `${HEAD}${sections.join('')}`
}

function reason(written: string, linear: ReadonlySet<string>): string {
  const bound = BOUNDED[written]
  if (linear.has(written)) return 'linear'
  return bound
    ? `at most ${bound.longest.toLocaleString('en')} characters: ${bound.why}`
    : '**neither proof nor bound**'
}

function code(written: string): string {
  const fence = written.includes('`') ? '``' : '`'
  const pad = fence === '``' ? ' ' : ''
  return `${fence}${pad}${written.replaceAll('|', '\\|').replaceAll('\n', ' ')}${pad}${fence}`
}

function size(octets: number): string {
  if (octets >= 1024 * 1024) return `${Math.round(octets / 1024 / 1024)} MB`
  return octets >= 1024 ? `${Math.round(octets / 1024)} kB` : `${octets} octets`
}
