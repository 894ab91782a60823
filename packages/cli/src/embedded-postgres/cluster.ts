import { spawnSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readKept, syncFolder, writeOnce } from '@postrider/core'
import { CommandError } from '../command.ts'
import { asOrdinaryUser, type Binaries } from './binaries.ts'

/** The folder of the embedded database in DATA_DIR. */
export const clusterOf = (dataDir: string): string => join(dataDir, 'postgres')

/** A folder in DATA_DIR with the files of a restore that has not ended. */
export const UNFINISHED_RESTORE = 'restoring'

const passwordFileOf = (dataDir: string): string => join(dataDir, 'postgres-password')

/** The password of the embedded database's only user. Throws a ConfigError that says how to recover if it was lost. */
export function readPassword(dataDir: string): string {
  return readKept(
    passwordFileOf(dataDir),
    'restore it from a backup. Without one: stop everything, set local connections to trust in postgres/pg_hba.conf of DATA_DIR, ' +
      'start that database by hand, give the user postrider a new password, and write the password into this file',
  )
}

/**
 * Returns the name under which this DATA_DIR makes backups, which is created at first use. A restored DATA_DIR gets one of its own: two
 * databases with one history must not write to one backup folder.
 */
export function backupIdOf(dataDir: string): string {
  const path = join(dataDir, 'backup-id')
  if (!existsSync(path)) writeOnce(path, `${randomUUID()}\n`)
  return readKept(path, 'delete it, and set BACKUP_DIR to a new folder or prefix')
}

/** Throws {@link CommandError} if a restore to this DATA_DIR was killed: its files are in it, and the last of them, the cluster, is not. */
export function requireNoRestore(dataDir: string): void {
  if (existsSync(clusterOf(dataDir)) || !existsSync(join(dataDir, UNFINISHED_RESTORE))) return
  throw new CommandError(
    `a restore to ${dataDir} was interrupted, or is still running: if it was interrupted, delete everything in this folder, then repeat the restore`,
  )
}

/** Creates the database cluster if it does not exist. Throws {@link CommandError}. */
export function ensureCluster(binaries: Binaries, dataDir: string, report: (line: string) => void): void {
  const cluster = clusterOf(dataDir)
  if (existsSync(cluster)) return
  requireNoRestore(dataDir)
  report('creating the embedded database')
  const fresh = `${cluster}.new`
  rmSync(fresh, { recursive: true, force: true })
  // An earlier first start that failed before the rename may have left a password; no cluster uses it.
  rmSync(passwordFileOf(dataDir), { force: true })
  writeOnce(passwordFileOf(dataDir), `${randomBytes(24).toString('hex')}\n`)
  mkdirSync(fresh, { mode: 0o700 })
  const handed = `${cluster}.password`
  try {
    writeFileSync(handed, readPassword(dataDir), { mode: 0o600 })
    initialise(binaries, fresh, handed)
  } finally {
    rmSync(handed, { force: true })
  }
  // initdb has already synced the contents.
  renameSync(fresh, cluster)
  syncFolder(dirname(cluster))
}

function initialise(binaries: Binaries, folder: string, passwordFile: string): void {
  const args = [
    '-D',
    folder,
    '-U',
    'postrider',
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '-E',
    'UTF8',
    '--locale-provider=builtin',
    '--locale=C.UTF-8',
    '--data-checksums',
  ]
  const [program = '', ...rest] = [...asOrdinaryUser(folder, passwordFile), binaries.initdb, ...args]
  const made = spawnSync(program, rest, { env: binaries.env, encoding: 'utf8' })
  if (made.error || made.status !== 0) {
    throw new CommandError(
      `initdb failed, set DATABASE_URL to use your own Postgres: ${made.error?.message ?? made.stderr.trim()}`,
    )
  }
}
