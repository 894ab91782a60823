import { ConfigError, type Environment } from './config-error.ts'

const MIN_LENGTH = 32
/** Each costs the check of a forged token once more. */
const MAX_PREVIOUS = 3

export interface SecretKeyConfig {
  readonly secretKey: string | undefined
  /** Keys that SECRET_KEY replaces, or has replaced. */
  readonly previousSecretKeys: readonly string[]
}

/** Throws {@link ConfigError}, which never contains a key. */
export function secretKeys(env: Environment): SecretKeyConfig {
  const secretKey = env.SECRET_KEY || undefined
  if (secretKey && secretKey.length < MIN_LENGTH)
    throw new ConfigError('SECRET_KEY', `must have at least ${MIN_LENGTH} characters, from a random source`)
  const previous = (env.SECRET_KEY_PREVIOUS ?? '')
    .split(',')
    .map((key) => key.trim())
    .filter(Boolean)
  if (previous.length > MAX_PREVIOUS || previous.some((key) => key.length < MIN_LENGTH))
    throw new ConfigError(
      'SECRET_KEY_PREVIOUS',
      `must be 1 to ${MAX_PREVIOUS} former values of SECRET_KEY, separated by commas, of at least ${MIN_LENGTH} characters each`,
    )
  const known = [...(secretKey ? [secretKey] : []), ...previous]
  if (new Set(known).size < known.length)
    throw new ConfigError('SECRET_KEY_PREVIOUS', 'must not contain SECRET_KEY, nor a value twice')
  return { secretKey, previousSecretKeys: previous }
}
