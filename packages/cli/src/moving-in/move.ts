import { type Core, ServiceError } from '@postrider/core'
import type { Progress } from './progress.ts'
import type { Bounds, Source } from './source.ts'
import { type Kind, type Tally, tell } from './tally.ts'

/** What is moved from where to where, and how. */
export interface Move {
  readonly core: Core
  readonly accountId: number
  readonly source: Source
  readonly bounds: Bounds
  /** Read and compare everything, change nothing. */
  readonly dryRun: boolean
  /** What is here with the same id is made like the source's. */
  readonly overwrite: boolean
  readonly tally: Tally
  readonly progress: Progress
}

/**
 * Does one thing unless nothing is to be changed, and counts it. What this service does not take is told and passed over;
 * anything else ends the move.
 */
export async function apply(
  { dryRun, tally }: Move,
  kind: Kind,
  as: 'added' | 'overwritten',
  thing: string,
  act: () => Promise<unknown>,
): Promise<boolean> {
  try {
    if (!dryRun) await act()
    tally.counts[kind][as]++
    return true
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    tally.counts[kind].refused++
    tell(tally.refusals, `${thing}: ${error.message}`)
    return false
  }
}

/** Counts something that cannot be copied, and goes on. */
export function refuse({ tally }: Move, kind: Kind, place: string, problem: string): void {
  tally.counts[kind].refused++
  tell(tally.refusals, `${place}: ${problem}`)
}

/** Counts something that is here and not the same, and that stays. */
export function differs({ tally }: Move, kind: Kind, sentence: string): void {
  tally.counts[kind].differs++
  tell(tally.differences, sentence)
}
