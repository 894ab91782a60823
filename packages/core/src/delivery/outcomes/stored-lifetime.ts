import type { AnySql } from '../../platform/database/database.ts'
import { LIFETIME_HOURS, URGENT_LIFETIME_SECONDS } from './schedule.ts'

/** The interval for which message `m` is tried, as `lifetimeOf` (schedule.ts) computes it from the same settings. */
export function storedLifetime(sql: AnySql): ReturnType<AnySql> {
  return sql`
    make_interval(secs => coalesce((m.settings->>'deadline')::int,
      case m.settings->>'class' when 'urgent' then ${URGENT_LIFETIME_SECONDS}::int else ${LIFETIME_HOURS * 3600}::int end))`
}
