import { PROBLEM_OF_POOLER, type Unmet } from './needs.ts'
import { SESSION_LIMITS, SESSION_SETTINGS } from './session-settings.ts'

/** Parameters that a connection sends and PgBouncer does not know: it must be set to ignore them. */
export const STARTUP_PARAMETERS: readonly string[] = [
  ...Object.keys(SESSION_SETTINGS).filter(
    (name) => !['datestyle', 'timezone', 'standard_conforming_strings'].includes(name),
  ),
  ...Object.keys(SESSION_LIMITS),
  'default_transaction_read_only',
]

interface Row {
  /** SQLSTATE or the code of Node, from its beginning. */
  readonly code: RegExp
  readonly text?: RegExp
  readonly fix: string
  /** Replaces the error's own words. */
  readonly problem?: string
}

const URL_PARTS = 'check user, password and database of DATABASE_URL'

/** Errors of a connection that cannot be made, or of its first statements. The first row that matches counts. */
const ROWS: readonly Row[] = [
  {
    code: /^28/,
    text: /no encryption|SSL off/,
    fix: 'the server demands TLS: add sslmode=require to DATABASE_URL, or verify-full with sslrootcert=FILE',
  },
  {
    code: /^28/,
    text: /pg_hba/,
    fix: 'add a line for this host, user and database to pg_hba.conf of the server, and reload it',
  },
  {
    code: /^28/,
    fix: `${URL_PARTS}; special characters are percent-encoded (@ as %40, # as %23, / as %2F)`,
  },
  {
    code: /^3D000/,
    fix: `${URL_PARTS}, or create it: CREATE DATABASE NAME ENCODING 'UTF8' TEMPLATE template0 OWNER ROLE`,
  },
  {
    code: /^3F000/,
    fix: 'create the schema that search_path names, or reset search_path of the role and the database',
  },
  { code: /^42501/, text: /database/, fix: 'GRANT CONNECT ON DATABASE to the role of DATABASE_URL' },
  {
    code: /^42501/,
    text: /schema/,
    fix: 'GRANT CREATE, USAGE ON SCHEMA to the role of DATABASE_URL, or have the owner run "postrider migrate" (docs/postgres.md#rights)',
  },
  {
    code: /^42501/,
    fix: 'have the owner of the tables run this, or grant the right to the role of DATABASE_URL (docs/postgres.md#rights)',
  },
  {
    code: /^53300/,
    fix: 'end other programs, raise max_connections of the server (docs/postgres.md#connections), or the connection limit of the role or database',
  },
  {
    code: /^08P01/,
    text: /unsupported startup parameter/,
    fix: `the pooler must ignore what it does not know: ignore_startup_parameters = ${STARTUP_PARAMETERS.join(', ')} (docs/postgres.md#poolers)`,
  },
  { code: /^26000/, ...PROBLEM_OF_POOLER },
  {
    code: /^42704/,
    text: /unrecognized configuration parameter/,
    fix: 'remove this parameter from DATABASE_URL; without it there, the server is older than Postgres 15, the oldest that is supported',
  },
  {
    code: /^(ENOTFOUND|EAI_AGAIN)/,
    // If the password is not encoded, a part of it is read as the host.
    problem: 'the host name of DATABASE_URL is not found',
    fix: 'check it, and that special characters of the password are percent-encoded (@ as %40, # as %23, / as %2F)',
  },
  {
    code: /^ECONNRESET/,
    text: /before secure TLS/,
    problem: 'DATABASE_URL demands TLS, and the server offers none',
    fix: 'turn on ssl on the server, or remove sslmode from DATABASE_URL',
  },
  {
    code: /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_SIGNATURE_FAILURE|CERT_UNTRUSTED)/,
    fix: 'name the authority that issued the certificate of the server: add sslrootcert=FILE to DATABASE_URL',
  },
  {
    code: /^ERR_TLS_CERT_ALTNAME_INVALID/,
    fix: 'use a host of DATABASE_URL that the certificate of the server names, or have one issued for it (sslmode=verify-ca checks no name)',
  },
  { code: /^CERT_(HAS_EXPIRED|NOT_YET_VALID)/, fix: 'renew the certificate of the server' },
  { code: /^ECONNREFUSED/, fix: 'start the database, and check host and port of DATABASE_URL' },
]

/** Returns the problem and the remedy; undefined for an error that says nothing of the connection or the rights. */
export function connectProblem(error: unknown): Unmet | undefined {
  const { code, message = '' } = (error ?? {}) as { code?: unknown; message?: string }
  if (typeof code !== 'string') return undefined
  const row = ROWS.find(({ code: of, text }) => of.test(code) && (text?.test(message) ?? true))
  return row && { problem: row.problem ?? (message || code), fix: row.fix }
}
