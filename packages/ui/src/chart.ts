import { type Html, html } from './html.ts'

/** One line of a chart. `colour`: of the five chart colours; the same thing has the same one on all pages (docs/design-system.md). */
export interface Series {
  readonly name: string
  readonly colour: 1 | 2 | 3 | 4 | 5
  readonly values: readonly number[]
}

export interface LineChartOptions {
  readonly series: readonly Series[]
  /** A text for each value: the hour or the day. */
  readonly labels: readonly string[]
  /** The chart in one sentence, for those who do not see it. */
  readonly sentence: string
  readonly number: (value: number) => string
  /** Words of the table below: its summary, and the head of its first column. */
  readonly table: { readonly summary: string; readonly first: string }
  /** Set if the last value goes on counting: the words after its label. The way to it is dashed. */
  readonly incomplete?: string | undefined
}

const TICKS = 4
const MAX_AXIS_LABELS = 6

/**
 * A chart as SVG, made by the server: it needs no script, its height is known before it is drawn, and it changes with the page. Each value is said
 * by the title of its column, and by the table below.
 */
export function lineChart({ series, labels: names, sentence, number, table, incomplete }: LineChartOptions): Html {
  const labels = incomplete === undefined ? names : [...names.slice(0, -1), `${names.at(-1)} (${incomplete})`]
  const top = roundUp(Math.max(1, ...series.flatMap(({ values }) => values)))
  const ticks = Array.from({ length: TICKS + 1 }, (_, at) => (top * (TICKS - at)) / TICKS)
  const width = 100 / Math.max(1, labels.length)
  const columns = labels.map((label, at) => {
    const said = [label, ...series.map(({ name, values }) => `${name} ${number(values[at] ?? 0)}`)].join('\n')
    return html`<rect class="hit" x="${(at * width).toFixed(2)}" y="0" width="${width.toFixed(2)}" height="100"><title>${said}</title></rect>`
  })
  return html`<div class="plot" role="img" aria-label="${sentence}"><div class="y" aria-hidden="true">${ticks.map(
    (value) => html`<span>${number(value)}</span>`,
  )}</div><svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">${ticks.map(
    (_, at) => html`<path class="grid" d="M0 ${(at * 100) / TICKS}h100"/>`,
  )}${series.slice(0, 1).map((one) => html`<path class="area" d="${line(one.values, top)}V100H0z"/>`)}${[...series]
    .reverse()
    .map(({ colour, values }) =>
      lineOf(colour, values, top, incomplete !== undefined),
    )}${columns}</svg><div class="x" aria-hidden="true">${axisOf(names).map((text) => html`<span>${text}</span>`)}</div></div>
<details class="later"><summary class="q">${table.summary}</summary><div class="scroll" tabindex="0" role="region" aria-label="${table.summary}">
  <table><thead><tr><th>${table.first}</th>${series.map(
    ({ name }) => html`<th class="n">${name}</th>`,
  )}</tr></thead><tbody>${labels.map(
    (label, at) =>
      html`<tr><td>${label}</td>${series.map(({ values }) => html`<td class="n">${number(values[at] ?? 0)}</td>`)}</tr>`,
  )}</tbody></table></div></details>`
}

/** The names of a chart's lines with their colours. */
export function chartKey(series: readonly Pick<Series, 'name' | 'colour'>[]): Html {
  return html`<div class="key push">${series.map(
    ({ name, colour }) =>
      html`<span><svg viewBox="0 0 18 8" aria-hidden="true"><path class="c c${colour}" d="M0 4h18"/></svg>${name}</span>`,
  )}</div>`
}

/** A line of the size of a word. */
export function sparkline(values: readonly number[], colour: Series['colour'] = 1): Html {
  const top = Math.max(1, ...values)
  return html`<svg class="spark" viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
    <path class="c c${colour}" d="${line(values, top * 1.1)}"/></svg>`
}

/** At most six labels in equal distances, the first and the last among them. */
function axisOf(labels: readonly string[]): readonly string[] {
  const count = Math.min(MAX_AXIS_LABELS, labels.length)
  if (count < 2) return labels
  return Array.from(
    { length: count },
    (_, at) => labels[Math.round((at * (labels.length - 1)) / (count - 1))] as string,
  )
}

function lineOf(colour: Series['colour'], values: readonly number[], top: number, isIncomplete: boolean): Html {
  if (!isIncomplete || values.length < 2) return html`<path class="c c${colour}" d="${line(values, top)}"/>`
  const points = pointsOf(values, top)
  return html`<path class="c c${colour}" d="M${points.slice(0, -1).join('L')}"/><path class="c dash c${colour}" d="M${points.slice(-2).join('L')}"/>`
}

/** The path of a line, on a sheet of 100 by 100. */
function line(values: readonly number[], top: number): string {
  if (values.length === 0) return 'M0 100H100'
  return `M${pointsOf(values, top).join('L')}${values.length === 1 ? 'H100' : ''}`
}

function pointsOf(values: readonly number[], top: number): readonly string[] {
  const step = values.length === 1 ? 0 : 100 / (values.length - 1)
  return values.map((value, at) => `${(at * step).toFixed(2)} ${(100 - (100 * value) / top).toFixed(2)}`)
}

/** The next number that divides well by four: 4, 8, 20, 40, 80, 200 and so on. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value / 4))
  const unit = Math.max(1, power)
  const found = [1, 2, 5, 10].find((step) => step * unit * 4 >= value) ?? 10
  return found * unit * 4
}
