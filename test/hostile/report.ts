import { beyond, type Cost } from './measure.ts'
import type { Waits } from './second-client.ts'
import { type Beside, wrongWith } from './traffic.ts'

const COLUMNS = [
  'door',
  'input',
  'octets',
  'longest turn ms',
  'processor ms',
  'second client ms',
  'peak MiB',
  'answer',
] as const
const WIDTHS = [8, 58, 10, 15, 12, 16, 8, 0] as const

export function heading(): string {
  return line(COLUMNS)
}

export function lineOf(cost: Cost): string {
  const { door, name, octets, longest, stuck, processor, waits, peak, answer } = cost
  const wrong = beyond(cost)
  const turn = `${stuck ? '> ' : ''}${Math.round(longest)}`
  const figures = [octets, turn, Math.round(processor), Math.round(waits.longest), Math.round(peak)]
  return `${line([door, name, ...figures, answer])}${wrong ? `   BEYOND: ${wrong}` : ''}`
}

function line(cells: readonly (string | number)[]): string {
  const padded = cells.map((cell, at) => {
    const width = WIDTHS[at] ?? 0
    return at < 2 ? String(cell).padEnd(width) : String(cell).padStart(width)
  })
  return padded.join(' ')
}

export function trafficLine(result: Beside): string {
  const { door, attacks, restarts, alone, beside, elsewhere, longest, peak } = result
  const wrong = wrongWith(result)
  const said = ({ p99, median }: Waits): string => `${p99.toFixed(1)} (${median.toFixed(1)})`
  const waits = `${said(beside)} ms beside it, ${said(elsewhere)} elsewhere, ${said(alone)} alone`
  const figures = `${attacks} inputs, ordinary client's p99 (and median) ${waits}`
  const rest = `longest turn ${Math.round(longest)} ms, peak ${Math.round(peak)} MiB, ${restarts} restarts`
  return `${door.padEnd(8)} ${figures}, ${rest}${wrong ? `   BEYOND: ${wrong}` : ''}`
}
