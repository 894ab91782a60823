/** A setting of each session of the service, which means the same whatever the server, the database or the role has. */
interface SessionSetting {
  readonly value: string
  /**
   * Values that are as good, as a regular expression of Postgres, if a wrong one damages or refuses mail: behind a pooler that ignores what a
   * connection sets (needs.ts).
   */
  readonly needs?: string
}

/**
 * Settings that change what a statement means or what an answer looks like. Not among them, since it is set on purpose:
 * default_transaction_read_only, which is reported (needs.ts). session_replication_role and synchronous_commit, which an ordinary role may
 * not set or which must be so for everyone, are required. The planner's settings and those of messages and storage change no meaning.
 */
export const SESSION_SETTINGS: Readonly<Record<string, SessionSetting>> = {
  // Octets and times are read in these forms.
  bytea_output: { value: 'hex', needs: '^hex$' },
  datestyle: { value: 'ISO, MDY', needs: '^ISO' },
  intervalstyle: { value: 'postgres' },
  // Decides the day of a timestamp that is converted without naming a zone.
  timezone: { value: 'UTC' },
  // Below 1, answers have fewer digits than the numbers.
  extra_float_digits: { value: '1' },
  // Off, backslashes in the statements of sql are escapes.
  standard_conforming_strings: { value: 'on', needs: '^on$' },
  // Off, NULL in an array is a text.
  array_nulls: { value: 'on', needs: '^on$' },
  transform_null_equals: { value: 'off', needs: '^off$' },
  quote_all_identifiers: { value: 'off' },
  gin_fuzzy_search_limit: { value: '0' },
  // Statements are written for it. A stricter one refuses some that a retry makes.
  default_transaction_isolation: { value: 'read committed', needs: '^read committed$' },
  // Statements have a time limit of their own, and idle sessions are kept.
  lock_timeout: { value: '0' },
  idle_session_timeout: { value: '0' },
}

/** Limits of each session, and how its statements are planned. */
export const SESSION_LIMITS = {
  statement_timeout: 15_000,
  // Statements take lists, for which one generic plan is as good as custom plans. Planning a join of two
  // partitioned tables takes 0.8 ms, a tenth of the total for a single message (`node bench/cpu.ts --one`).
  plan_cache_mode: 'force_generic_plan',
  // The cost estimate of a generic plan is high enough to trigger JIT compilation at each run, which takes longer
  // than the run.
  jit: 'off',
  // The service never idles in a transaction; one that does has lost its client and still holds its locks.
  idle_in_transaction_session_timeout: 15_000,
  // A host that loses power leaves sessions that hold locks; with these values the server's kernel detects it
  // within 15 s.
  tcp_keepalives_idle: 5,
  tcp_keepalives_interval: 3,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 15_000,
} as const

/** As a connection sends them. */
export function sessionSettings(): Record<string, string | number> {
  const values = Object.entries(SESSION_SETTINGS).map(([name, { value }]) => [name, value])
  return { ...Object.fromEntries(values), ...SESSION_LIMITS }
}
