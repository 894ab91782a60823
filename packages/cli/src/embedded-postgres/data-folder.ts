import { accessSync, chmodSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Config, ConfigError } from '@postrider/core'
import { asOrdinaryUser, isNobody } from './ordinary-user.ts'

/** Throws {@link ConfigError}. */
export function ensureDataDir({ dataDir }: Pick<Config, 'dataDir'>): void {
  try {
    makeDataDir(dataDir)
    accessSync(dataDir, constants.W_OK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new ConfigError('DATA_DIR', `must be a folder that this user can write to (${dataDir}: ${code})`)
  }
}

/**
 * Creates DATA_DIR, unless it exists, for this user alone, whatever the umask is. The folders above it, which may be meant for others too, get the
 * umask's mode.
 */
export function makeDataDir(dataDir: string): void {
  if (existsSync(dataDir)) return
  const above = dirname(dataDir)
  if (!existsSync(above)) mkdirSync(above, { recursive: true })
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  // As root without user namespaces, Postgres runs as `nobody`, who has to reach its own folder in this one, but not to list it.
  if (isNobody(asOrdinaryUser())) chmodSync(dataDir, 0o711)
}

/**
 * Returns the problem and its correction if other users may list or change DATA_DIR. Its files are 0600, but their names are seen, and a user who may
 * write there replaces them. An existing folder is not narrowed: other programs may use it, too.
 */
export function openToOthers({ dataDir }: Pick<Config, 'dataDir'>): { problem: string; fix: string } | undefined {
  const { mode, uid } = statSync(dataDir)
  // A volume of Kubernetes (fsGroup) belongs to root, and to a group of its own.
  const others = uid === process.getuid?.() ? 0o066 : 0o006
  if ((mode & others) === 0) return undefined
  return {
    problem: `other users of this host can ${(mode & others & 0o022) === 0 ? 'list' : 'change'} DATA_DIR (${dataDir}, mode 0${(mode & 0o777).toString(8)})`,
    fix: `chmod ${isNobody(asOrdinaryUser()) ? '711' : '700'} ${dataDir}`,
  }
}
