import { type Core, ServiceError } from '@postrider/core'
import type { Progress } from './progress.ts'
import type { Bounds, Source } from './source.ts'
import { type ImportCounts, type Kind, tell } from './tally.ts'

/** An import: its source, target account and options. */
export interface Move {
  readonly core: Core
  readonly accountId: number
  readonly source: Source
  readonly bounds: Bounds
  /** Read and compare everything; change nothing. */
  readonly dryRun: boolean
  /** Replace existing objects that have the same id as one of the source. */
  readonly overwrite: boolean
  readonly tally: ImportCounts
  readonly progress: Progress
}

/**
 * Makes one change, unless this is a dry run, and counts it. If core rejects the change, this is reported and the import continues; any
 * other error ends the import.
 */
export async function apply(
  { dryRun, tally }: Move,
  kind: Kind,
  as: 'added' | 'overwritten',
  thing: string,
  fn: () => Promise<unknown>,
): Promise<boolean> {
  try {
    if (!dryRun) await fn()
    tally.counts[kind][as]++
    return true
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    tally.counts[kind].refused++
    tell(tally.refusals, `${thing}: ${error.message}`)
    return false
  }
}

/** Counts and reports an object that cannot be imported. */
export function refuse({ tally }: Move, kind: Kind, place: string, problem: string): void {
  tally.counts[kind].refused++
  tell(tally.refusals, `${place}: ${problem}`)
}

/** Counts and reports an existing object that differs from the source's and is left unchanged. */
export function differs({ tally }: Move, kind: Kind, sentence: string): void {
  tally.counts[kind].differs++
  tell(tally.differences, sentence)
}
