import { ConfigError, type Environment } from './config-error.ts'
import { wholeNumber } from './values.ts'

/** A place in S3-compatible object storage, and how to get there. */
export interface ObjectStoreConfig {
  readonly bucket: string
  /** Empty, or ends in a slash. */
  readonly prefix: string
  /** The URL without a path; the bucket is the first part of the path of a request. */
  readonly endpoint: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

/** Object storage for the bodies of large messages. */
export interface BodyStoreConfig extends ObjectStoreConfig {
  /** Bytes as stored, above which a body is there rather than in the database. */
  readonly above: number
}

/** Undefined if all bodies are stored in the database. Throws ConfigError. */
export function bodyStore(env: Environment): BodyStoreConfig | undefined {
  const url = env.BODY_STORE || 'postgres'
  const above = wholeNumber(env, 'BODY_STORE_ABOVE_KB', 64, 1, 1_000_000) * 1024
  // Invalid values are refused while nothing uses them, too.
  const where = addressOf(env)
  if (url === 'postgres') return undefined
  if (!url.startsWith('s3://')) throw new ConfigError('BODY_STORE', 'must be postgres or s3://BUCKET/PREFIX')
  return { ...objectStore(env, 'BODY_STORE', url), ...where, above }
}

/** Reads `s3://BUCKET/PREFIX`, the value of the setting `name`, with the settings that all such values share. Throws ConfigError. */
export function objectStore(env: Environment, name: string, url: string): ObjectStoreConfig {
  const [bucket = '', ...parts] = url.slice('s3://'.length).split('/')
  const path = parts.join('/')
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket) || bucket.includes('..'))
    throw new ConfigError(name, 'must be s3://BUCKET or s3://BUCKET/PREFIX, with the name of a bucket')
  const prefix = path.replace(/\/+$/, '')
  if (prefix.length > 200 || !/^$|^[\w.-]+(\/[\w.-]+)*$/.test(prefix) || /(^|\/)\.\.?(\/|$)/.test(prefix)) {
    throw new ConfigError(
      name,
      'must have a prefix of letters, digits and "._-", with "/" between its parts, of at most 200 characters',
    )
  }
  return {
    bucket,
    prefix: prefix === '' ? '' : `${prefix}/`,
    ...addressOf(env),
    accessKeyId: credential(env, 'S3_ACCESS_KEY_ID', name),
    secretAccessKey: credential(env, 'S3_SECRET_ACCESS_KEY', name),
  }
}

function addressOf(env: Environment): Pick<ObjectStoreConfig, 'endpoint' | 'region'> {
  const region = env.S3_REGION || 'us-east-1'
  if (!/^[a-z0-9-]{1,50}$/i.test(region)) throw new ConfigError('S3_REGION', 'must be the name of a region')
  return { region, endpoint: endpoint(env.S3_ENDPOINT || `https://s3.${region}.amazonaws.com`) }
}

function endpoint(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search === '' && url.hash === ''
  if (!url || !isPlain || url.username !== '' || url.password !== '')
    throw new ConfigError('S3_ENDPOINT', 'must be an http or https URL without a path, user name or password')
  return url.origin
}

function credential(env: Environment, name: string, usedBy: string): string {
  const value = env[name]
  if (!value) throw new ConfigError(name, `must be set, because ${usedBy} is in object storage`)
  if (!/^[\x21-\x7e]{1,256}$/.test(value)) throw new ConfigError(name, 'must not contain spaces or special characters')
  return value
}
