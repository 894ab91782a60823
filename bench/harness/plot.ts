import { type Finding, format, median, meets } from './rounds.ts'

const WIDTH = 900
const LABEL = 430
const ROW = 34
/** Ratios from 0.1 to 100 on a logarithmic scale, 1 being the peer. */
const DECADES = [0.1, 1, 10, 100]

/** Bars of the ratios, with a mark at each target. */
export function drawPlot(findings: readonly Finding[]): string {
  const shown = findings.filter(({ ratio }) => ratio !== undefined)
  const height = 50 + shown.length * ROW
  const place = (ratio: number): number => {
    const part = (Math.log10(Math.min(100, Math.max(0.1, ratio))) + 1) / 3
    return LABEL + part * (WIDTH - LABEL - 70)
  }
  const grid = DECADES.map(
    (ratio) =>
      `<line x1="${place(ratio)}" x2="${place(ratio)}" y1="30" y2="${height - 10}" stroke="#ccc"/>` +
      `<text x="${place(ratio)}" y="22" text-anchor="middle">${ratio} ×</text>`,
  )
  const bars = shown.map((finding, at) => {
    const { title, ratio = 1, rounds, target, unit } = finding
    const y = 40 + at * ROW
    const [left, right] = [Math.min(place(1), place(ratio)), Math.max(place(1), place(ratio))]
    const colour = meets(finding) === false ? '#c0392b' : '#2e7d5b'
    const figures = Object.entries(rounds).map(([name, values]) => `${name} ${format(median(values))}`)
    const goal = target
      ? `<line x1="${place(target.value)}" x2="${place(target.value)}" y1="${y - 2}" y2="${y + 18}" stroke="#333" stroke-width="2"/>`
      : ''
    return (
      `<text x="8" y="${y + 8}">${escapeXml(title)}</text>` +
      `<text x="8" y="${y + 20}" fill="#777" font-size="9">${escapeXml(`${figures.join(', ')} ${unit}`)}</text>` +
      `<rect x="${left}" y="${y}" width="${Math.max(1, right - left)}" height="16" fill="${colour}"/>${goal}` +
      `<text x="${place(ratio) + 4}" y="${y + 12}">${ratio.toFixed(2)}</text>`
    )
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="11">
<title>Postrider against its peers, as ratios</title>
<rect width="${WIDTH}" height="${height}" fill="white"/>
${[...grid, ...bars].join('\n')}
</svg>
`
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
