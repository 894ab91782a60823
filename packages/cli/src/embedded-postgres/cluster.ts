import { spawnSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { ConfigError, readKept, syncFolder, writeOnce } from '@postrider/core'
import { CommandError } from '../command.ts'
import type { Binaries } from './binaries.ts'
import { asOrdinaryUser } from './ordinary-user.ts'
import { incompleteProblem, startProblem } from './start-problem.ts'

const { R_OK, W_OK, X_OK } = constants

/** The folder of the embedded database in DATA_DIR. */
export const clusterOf = (dataDir: string): string => join(dataDir, 'postgres')

/** A folder in DATA_DIR with the files of a restore that has not ended. */
export const UNFINISHED_RESTORE = 'restoring'

/** The beginning of the names of folders in DATA_DIR in which initdb works. */
const UNFINISHED_CLUSTER = 'postgres.new'

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

/** Of the path: initdb, which has room for 1,024 octets and adds names to it, overwrites its own stack. */
const MAX_CLUSTER_OCTETS = 900

/**
 * Throws {@link ConfigError} if what should be the folder of a database is none: initdb would not create one in its place. Throws the error of the
 * system if this user cannot use one of its folders: Postgres would start nevertheless, and refuse each connection.
 */
function requireWhole(cluster: string): void {
  if (!statSync(cluster).isDirectory()) throw incompleteProblem(cluster, 'is a file')
  const names = readdirSync(cluster)
  if (names.length === 0) throw incompleteProblem(cluster, 'is empty')
  if (!names.includes('PG_VERSION')) throw incompleteProblem(cluster, 'has no PG_VERSION')
  for (const entry of readdirSync(cluster, { withFileTypes: true }))
    accessSync(join(cluster, entry.name), entry.isDirectory() ? R_OK | W_OK | X_OK : R_OK)
}

/** Creates the database cluster if it does not exist. Throws {@link CommandError} or {@link ConfigError}, and leaves nothing then. */
export function ensureCluster(binaries: Binaries, dataDir: string, report: (line: string) => void): void {
  const cluster = clusterOf(dataDir)
  if (existsSync(cluster)) {
    requireWhole(cluster)
    return
  }
  const octets = Buffer.byteLength(resolve(cluster))
  if (octets > MAX_CLUSTER_OCTETS)
    throw new ConfigError('DATA_DIR', `has too long a path: ${octets} octets, and Postgres takes ${MAX_CLUSTER_OCTETS}`)
  requireNoRestore(dataDir)
  report('creating the embedded database')
  for (const name of readdirSync(dataDir)) if (name.startsWith(UNFINISHED_CLUSTER)) removeFolder(join(dataDir, name))
  // A name of its own: the initdb of a start that was killed goes on for a moment, and would write into the folder of this one.
  const fresh = join(dataDir, `${UNFINISHED_CLUSTER}.${process.pid}`)
  // An earlier first start that failed before the rename may have left a password; no cluster uses it.
  rmSync(passwordFileOf(dataDir), { force: true })
  writeOnce(passwordFileOf(dataDir), `${randomBytes(24).toString('hex')}\n`)
  mkdirSync(fresh, { mode: 0o700 })
  const handed = `${cluster}.password`
  try {
    writeFileSync(handed, readPassword(dataDir), { mode: 0o600 })
    initialise(binaries, fresh, handed)
  } catch (error) {
    removeFolder(fresh)
    rmSync(passwordFileOf(dataDir), { force: true })
    throw error
  } finally {
    rmSync(handed, { force: true })
  }
  // initdb has already synced the contents.
  renameSync(fresh, cluster)
  syncFolder(dirname(cluster))
}

/** Even one to which another process adds files. */
function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 })
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
  const runner = asOrdinaryUser(folder, passwordFile)
  const [program = '', ...rest] = [...runner, binaries.initdb, ...args]
  const made = spawnSync(program, rest, { env: binaries.env, encoding: 'utf8' })
  if (made.status === 0) return
  const end = made.error?.message ?? (made.signal ? `terminated by signal ${made.signal}` : '')
  throw startProblem({
    output: `${made.stderr ?? ''}\n${end}`,
    action: 'create the embedded database',
    cluster: folder,
    binaries,
    program: binaries.initdb,
    runner,
  })
}
