import { existsSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { parseNetworks } from '../net/networks.ts'
import { ConfigError, type Environment } from './config-error.ts'

/**
 * Throws {@link ConfigError} for a value that ends with a comment. A shell leaves it out, but systemd and "docker run --env-file" read it as a
 * part of the value: a host would have another SECRET_KEY than its commands.
 */
export function requireNoComments(env: Environment, names: readonly string[]): void {
  const commented = names.find((name) => env[name]?.includes(' #') || env[name]?.includes('\t#'))
  if (commented === undefined) return
  throw new ConfigError(
    commented,
    'must not have a comment after its value: not every program leaves it out. Write comments on lines of their own',
  )
}

export function wholeNumber(env: Environment, name: string, byDefault: number, least: number, most: number): number {
  const text = env[name]
  if (!text) return byDefault
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= least && value <= most)) {
    throw new ConfigError(name, `must be a whole number from ${least} to ${most}`)
  }
  return value
}

export function port(env: Environment, name: string, byDefault: number): number {
  return wholeNumber(env, name, byDefault, 1, 65535)
}

export function oneOf<T extends string>(env: Environment, name: string, values: readonly T[], byDefault: T): T {
  const text = env[name]
  if (!text) return byDefault
  if (!values.includes(text as T)) throw new ConfigError(name, `must be one of: ${values.join(', ')}`)
  return text as T
}

export function file(env: Environment, name: string): string | undefined {
  const path = env[name]
  if (!path) return undefined
  if (!existsSync(path)) throw new ConfigError(name, 'must be the path of an existing file')
  return resolve(path)
}

/** Underscores are allowed, because container host names may contain them. */
export function listenHost(env: Environment, name: string): string {
  const text = env[name]
  if (!text) return '127.0.0.1'
  if (isIP(text) === 0 && !/^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/i.test(text)) {
    throw new ConfigError(name, 'must be an IP address or a host name')
  }
  return text
}

export function hostName(env: Environment, name: string, byDefault: string): string {
  const text = env[name]
  if (!text) return byDefault
  if (!/^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i.test(text) || text.length > 253) {
    throw new ConfigError(name, 'must be a host name')
  }
  return text.toLowerCase()
}

export function networks(env: Environment, name: string, byDefault = ''): string[] {
  try {
    return parseNetworks((env[name] || byDefault).split(','))
  } catch (error) {
    throw new ConfigError(
      name,
      `must be a comma-separated list of IP addresses or networks: ${(error as Error).message}`,
    )
  }
}

/** Undefined if the text is not valid percent-encoding. */
export function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
