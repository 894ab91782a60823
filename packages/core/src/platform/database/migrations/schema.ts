import type { Sql } from '../database.ts'
import { applyLaterMigrations, type LaterOptions, type LaterResult } from './later-migrations.ts'
import { planUpgrade, type UpgradePlan } from './upgrade-plan.ts'

/** The migrations beyond those that every process applies at its start. */
export interface Schema {
  applyLater(options?: LaterOptions): Promise<LaterResult>
  plan(): Promise<UpgradePlan>
}

export function createSchema(sql: Sql): Schema {
  return { applyLater: (options) => applyLaterMigrations(sql, options), plan: () => planUpgrade(sql) }
}
