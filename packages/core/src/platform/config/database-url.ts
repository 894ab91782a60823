import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { databaseAddress } from '../database/connection-tls.ts'
import { ConfigError, type Environment } from './config-error.ts'
import { decoded } from './values.ts'

/**
 * Path of the file in which a running embedded database stores its URL, so that processes and commands started
 * separately find it.
 */
export function embeddedUrlFile(dataDir: string): string {
  return join(dataDir, 'database-url')
}

export function databaseUrl(env: Environment, dataDir: string): string | undefined {
  const given = env.DATABASE_URL
  if (given) {
    requireUrl('DATABASE_URL', given)
    const session = sessionAttributes(given)
    // With read-write the driver takes a hot standby, too: it looks only at default_transaction_read_only.
    if (session !== undefined && session !== 'primary') {
      throw new ConfigError(
        'DATABASE_URL',
        `must have target_session_attrs=primary, not ${session}: the service writes, and other values can lead to a standby`,
      )
    }
    return given
  }
  const left = embeddedUrlFile(dataDir)
  return existsSync(left) ? readFileSync(left, 'utf8').trim() : undefined
}

/** The URL of a standby. Throws {@link ConfigError}. */
export function databaseReadUrl(env: Environment): string | undefined {
  const given = env.DATABASE_READ_URL
  if (!given) return undefined
  requireUrl('DATABASE_READ_URL', given)
  const session = sessionAttributes(given)
  if (session === 'primary' || session === 'read-write')
    throw new ConfigError(
      'DATABASE_READ_URL',
      `must lead to a standby: use target_session_attrs=standby or prefer-standby, not ${session}`,
    )
  return given
}

function requireUrl(name: string, text: string): void {
  if (!isDatabaseUrl(text))
    throw new ConfigError(
      name,
      'must be like postgres://user:password@host:port/database, with special characters percent-encoded (@ as %40, # as %23, / as %2F)',
    )
  try {
    databaseAddress(text)
  } catch (error) {
    throw new ConfigError(name, (error as Error).message)
  }
}

function sessionAttributes(url: string): string | undefined {
  return /[?&]target_session_attrs=([^&#]*)/.exec(url)?.[1]
}

/**
 * Several comma-separated hosts are alternatives for reaching one database (libpq syntax); the rest is an ordinary URL.
 */
function isDatabaseUrl(text: string): boolean {
  const oneHost = text.replace(/^(\w+:\/\/(?:[^@/?#]*@)?[^,/?#]*),[^/?#]*/, '$1')
  // A password that is not encoded would otherwise be read as part of the host.
  const [before = ''] = text.split('?', 1)
  if (before.split('@').length > 2 || text.includes('#')) return false
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(oneHost)) return false
  const { username, password } = new URL(oneHost)
  return decoded(username) !== undefined && decoded(password) !== undefined
}
