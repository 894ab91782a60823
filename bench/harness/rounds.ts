/** What a case found: medians of its rounds, side by side. */
export interface Finding {
  readonly title: string
  readonly unit: string
  /** Of each contestant, every round. */
  readonly rounds: Readonly<Record<string, readonly number[]>>
  /** Ours against the peer's, or undefined where there is no peer. */
  readonly ratio?: number
  /** What the target says about the ratio, or about our median where there is no peer. */
  readonly target?: Target
  /** Of each contestant, the processor time of every round, in microseconds per message. */
  readonly processor?: Readonly<Record<string, readonly number[]>>
  /** The name under which `--json` tells it. */
  readonly key?: string
}

export interface Target {
  readonly sense: 'at least' | 'at most'
  readonly value: number
}

/** One round of a contestant: a figure. Throws an Error when what it counted does not add up. */
export type Round = () => Promise<number>

/** A B A B ..., so that a machine that changes its mood changes it for both. */
export async function alternate(
  contestants: Readonly<Record<string, Round>>,
  rounds: number,
  report: (line: string) => void,
): Promise<Record<string, number[]>> {
  const found: Record<string, number[]> = {}
  for (let round = 0; round < rounds; round++) {
    for (const [name, act] of Object.entries(contestants)) {
      const figure = await act()
      ;(found[name] ??= []).push(figure)
      report(`  round ${round + 1}, ${name}: ${format(figure)}`)
    }
  }
  return found
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const half = sorted.length >> 1
  const upper = sorted[half] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? Number.NaN) + upper) / 2
}

/** The given part (0 to 1) of the values lies at or below this. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN
}

export function ratioOf(rounds: Readonly<Record<string, readonly number[]>>): number | undefined {
  const [ours, peer] = Object.values(rounds)
  return ours && peer ? median(ours) / median(peer) : undefined
}

/** The ratio of each round, as its mean and the standard error of that. */
export function pairedRatio(ours: readonly number[], theirs: readonly number[]): { mean: number; error: number } {
  const ratios = ours.map((figure, round) => figure / (theirs[round] ?? Number.NaN))
  const mean = ratios.reduce((sum, one) => sum + one, 0) / ratios.length
  const variance = ratios.reduce((sum, one) => sum + (one - mean) ** 2, 0) / Math.max(1, ratios.length - 1)
  return { mean, error: Math.sqrt(variance / ratios.length) }
}

export function meets({ ratio, rounds, target }: Finding): boolean | undefined {
  if (!target) return undefined
  const value = ratio ?? median(Object.values(rounds)[0] ?? [])
  return target.sense === 'at least' ? value >= target.value : value <= target.value
}

export function targetText({ sense, value }: Target): string {
  return `${sense === 'at least' ? '≥' : '≤'} ${format(value)}`
}

export function format(figure: number): string {
  return figure >= 100 ? Math.round(figure).toLocaleString('en') : figure.toFixed(2)
}
