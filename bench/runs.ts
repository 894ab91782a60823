import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { MachineFigures } from './harness/machine.ts'
import { drawPlot } from './harness/plot.ts'
import { type Finding, format, median, meets, targetText } from './harness/rounds.ts'

/**
 * Several runs of the benchmark as one table: the machine's figures, and of each case that all have, the ratio of each run and their median,
 * which a target is judged by. `node bench/runs.ts FILE... [--svg FILE]`: FILE is a .json of bench/results; --svg draws the medians.
 */
interface Run {
  readonly measuredAt: string
  readonly machine: { readonly figures: readonly MachineFigures[] }
  readonly findings: readonly Finding[]
}

const { values: options, positionals } = parseArgs({ options: { svg: { type: 'string' } }, allowPositionals: true })
if (positionals.length === 0) {
  process.stderr.write('Name at least one file of bench/results.\n')
  process.exit(64)
}
const runs = positionals.map((file) => JSON.parse(readFileSync(file, 'utf8')) as Run)
const together = (runs[0]?.findings ?? []).flatMap(({ title }) => combine(title))
const lines = [
  row('case', [...runs.map(({ measuredAt }) => timeOf(measuredAt)), 'median'], 'µs per message', 'target', ''),
  `|---|${'---|'.repeat(runs.length + 4)}`,
  row(
    'machine: `fdatasync` of 8 kB per second',
    shown(runs, ({ syncsPerSecond }) => syncsPerSecond),
  ),
  row(
    'machine: RSA-2048 signatures per second',
    shown(runs, ({ signaturesPerSecond }) => signaturesPerSecond),
  ),
  ...together.map(({ finding, each }) => caseRow(finding, each)),
]
process.stdout.write(`${lines.join('\n')}\n`)
if (options.svg) writeFileSync(options.svg, drawPlot(together.map(({ finding }) => finding)))

/** A case of all runs: each contestant's rounds and processor times are the medians of the runs, and the ratio is the median of theirs. */
function combine(title: string): { finding: Finding; each: Finding[] }[] {
  const each = runs.flatMap(({ findings }) => findings.filter((one) => one.title === title))
  const [first] = each
  if (!first || each.length < runs.length) return []
  const medians = (of: (one: Finding) => Finding['rounds']) =>
    Object.fromEntries(Object.keys(of(first)).map((name) => [name, each.map((one) => median(of(one)[name] ?? []))]))
  const ratios = each.flatMap(({ ratio }) => ratio ?? [])
  const ratio = ratios.length === each.length ? { ratio: median(ratios) } : {}
  const processor = first.processor ? { processor: medians(({ processor = {} }) => processor) } : {}
  return [{ finding: { ...first, rounds: medians(({ rounds }) => rounds), ...processor, ...ratio }, each }]
}

/** The processor time is the median of the runs. */
function caseRow(finding: Finding, each: readonly Finding[]): string {
  const { title, unit, target } = finding
  const met = meets(finding)
  const verdict = met === undefined ? '' : met ? 'met' : '**missed**'
  return row(
    `${title}, ${unit}`,
    [...each, finding].map(figure),
    times(finding),
    target ? targetText(target) : '',
    verdict,
  )
}

/** Figures of a run, with their ratio. */
function figure({ rounds, ratio }: Finding): string {
  const values = Object.values(rounds).map((values) => format(median(values)))
  return values.join(' / ') + (ratio === undefined ? '' : ` = ${ratio.toFixed(2)}`)
}

function times({ processor = {} }: Finding): string {
  return Object.values(processor)
    .map((values) => format(median(values)))
    .join(' / ')
}

function shown(of: readonly Run[], figureOf: (one: MachineFigures) => number): string[] {
  return of.map(({ machine }) => format(median(machine.figures.map(figureOf))))
}

function timeOf(measuredAt: string): string {
  return `${measuredAt.slice(0, 16).replace('T', ' ')} UTC`
}

/** Cells that are missing are empty. */
function row(title: string, cells: readonly string[], ...rest: readonly string[]): string {
  const all = [title, ...cells, ...Array(runs.length + 1 - cells.length).fill(''), ...rest]
  return `| ${[...all, ...Array(runs.length + 5 - all.length).fill('')].join(' | ')} |`
}
