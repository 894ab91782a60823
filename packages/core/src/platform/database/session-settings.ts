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

/** As a connection sends them. */
export function sessionSettings(): Record<string, string> {
  return Object.fromEntries(Object.entries(SESSION_SETTINGS).map(([name, { value }]) => [name, value]))
}
