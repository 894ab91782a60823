import type { Finding } from './rounds.ts'
import type { Service } from './service.ts'

/** What every case is given. */
export interface Context {
  readonly service: Service
  readonly rounds: number
  /** Seconds a round is to last, about. */
  readonly seconds: number
  /** Shorter cases, smaller tables. */
  readonly quick: boolean
  /** Whether the database has pg_stat_statements, which statements.ts reads. */
  readonly statements: boolean
  readonly report: (line: string) => void
}

/** A case answers what it found; several findings where one run shows several things. Throws where it cannot be run. */
export interface Case {
  readonly name: string
  readonly run: (context: Context) => Promise<Finding[]>
  /** Left out of the quick run. */
  readonly long?: boolean
}
