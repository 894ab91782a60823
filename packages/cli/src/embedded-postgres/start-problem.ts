import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ConfigError } from '@postrider/core'
import { CommandError } from '../command.ts'
import type { Binaries } from './binaries.ts'
import { closedFolder, isNobody, NOBODY, works } from './ordinary-user.ts'

/** An initdb or a server that ended. */
export interface Failed {
  /** Its output, and why it could not be run at all, if that is so. */
  readonly output: string
  /** "create the embedded database" */
  readonly action: string
  /** The folder of the database. */
  readonly cluster: string
  readonly binaries: Binaries
  /** The program of them that was run. */
  readonly program: string
  /** The beginning of its command line, of asOrdinaryUser. */
  readonly runner: readonly string[]
  /** Where its output was written. */
  readonly logFile?: string | undefined
}

const OWN = 'or set DATABASE_URL to a Postgres of your own'
const REINSTALL = `install Postrider again, ${OWN}`

/**
 * The error of a start that failed: one sentence that says what is wrong, where, and what to do. One that a person has to correct is a {@link ConfigError}
 * (exit status 78, after which a service manager does not try again), everything else a {@link CommandError}.
 */
export function startProblem(failed: Failed): ConfigError | CommandError {
  const { action, logFile, output } = failed
  for (const [pattern, says] of CAUSES) {
    const found = pattern.exec(output)
    const problem = found && says(failed, found)
    if (problem instanceof ConfigError) return problem
    if (problem) return new CommandError(`could not ${action}: ${problem}`)
  }
  const last = lastError(output)
  return new CommandError(
    `could not ${action}${last === undefined ? '' : ` (${last})`}; ${logFile === undefined ? `retry, ${OWN}` : `see ${logFile}`}`,
  )
}

function lastError(output: string): string | undefined {
  const lines = output.trim().split('\n')
  return lines.findLast((line) => /FATAL|PANIC|error:/.test(line))?.replace(/^.*(?:FATAL|PANIC|error): +/, '')
}

type Says = (failed: Failed, found: RegExpExecArray) => string | ConfigError | undefined

/** The first row whose pattern is found and which has something to say decides. The wordings are those of glibc's loader, util-linux and Postgres 18. */
const CAUSES: readonly (readonly [RegExp, Says])[] = [
  [
    /could not (?:open|create|resize|truncate) shared memory segment/,
    () =>
      `/dev/shm is missing, too small or not writable: give it 64 MB or more (docker run --shm-size=64m, compose shm_size), ${OWN}`,
  ],
  [
    /could not map anonymous shared memory|Cannot allocate memory|out of memory|could not fork/,
    () =>
      `not enough memory or processes: it takes 200 MB and 20 processes; raise the limits of this container or user`,
  ],
  [/No space left on device|Disk quota exceeded/, (failed) => fullText(failed)],
  [
    /File too large/,
    () => 'the largest file that this user may write is too small: raise it to 1 GB or more (ulimit -f)',
  ],
  [
    /Too many open files/,
    () => 'this user may open too few files: raise the limit to 1024 or more (ulimit -n, systemd LimitNOFILE)',
  ],
  [
    /loading shared libraries: ([^\s:]{1,200}):|version `(GLIBC_[\d.]{1,20})' not found/,
    (failed, [, library, version]) =>
      library === undefined
        ? `this system's C library is older than ${version}, which the embedded Postgres needs: ${OWN.slice(3)}`
        : (closedProblem(failed) ?? `its library ${library} is missing: ${REINSTALL}`),
  ],
  [/failed to execute|spawn(?:Sync)? |sh: /, programProblem],
  [
    /program "postgres" is needed by/,
    ({ binaries }) =>
      existsSync(binaries.postgres)
        ? `its program ${binaries.postgres} is damaged: ${REINSTALL}`
        : `its program ${binaries.postgres} is missing: ${REINSTALL}`,
  ],
  [
    /setpriv: (?:setres[ug]id|setgroups|initgroups)[^\n]{0,100}|unshare: [^\n]{0,100}/,
    () =>
      `Postgres does not run as root, and root may not become another user here: run Postrider as another user (docker run --user), ${OWN}`,
  ],
  [
    /could not look up effective user ID (\d{1,10})/,
    (_failed, [, uid]) =>
      `user ${uid} has no entry in /etc/passwd, which initdb needs: run Postrider as a user that has one, add one, ${OWN}`,
  ],
  [
    /invalid locale|locale name|invalid value for parameter "lc_/,
    () => `this system lacks the locale C.UTF-8: install it (Debian: apt-get install locales), ${OWN}`,
  ],
  [
    /incompatible with server|not compatible with this version/,
    (failed) => versionProblem(failed) ?? `${failed.cluster} was made by another build of Postgres`,
  ],
  [
    /could not find the database system|could not open file "[^"]{1,1000}(?:PG_VERSION|pg_control)": No such file|postgresql\.conf": No such file/,
    ({ cluster }) => incompleteProblem(cluster, 'lacks files of a database'),
  ],
  [
    /Read-only file system/,
    ({ cluster }) =>
      new ConfigError('DATA_DIR', `has a database on a read-only disk (${cluster}): mount it for writing`),
  ],
  [
    /Permission denied|could not access directory|wrong ownership|Operation not permitted/,
    (failed) => accessProblem(failed),
  ],
  [
    /invalid permissions/,
    ({ cluster }) => new ConfigError('DATA_DIR', `has a database that others can read: run chmod 700 ${cluster}`),
  ],
  [
    /Input\/output error/,
    ({ cluster }) =>
      `the disk of ${cluster} reports an input/output error: look at it, then restore a backup (docs/backup.md)`,
  ],
  [
    /lock file "postmaster\.pid" already exists|pre-existing shared memory block/,
    ({ cluster }) =>
      `another server runs on ${cluster}, or its processes have not ended: stop it, then start again; its process is in postmaster.pid there`,
  ],
  [
    /caught signal|(?<=terminated by signal )SIG[A-Z]{1,10}/,
    (_failed, [signal]) => `it was interrupted (${signal}); nothing is left of it, and the next start begins again`,
  ],
]

const fullText = ({ cluster, logFile }: Failed): string =>
  `the disk of DATA_DIR (${dirname(cluster)}) is full, or has no inodes left: ` +
  `${logFile === undefined ? 'a new database takes 50 MB, and 1 GB with traffic; ' : ''}free space on it, then start again`

/** Why `nobody`, as which it is run, cannot reach it: setpriv still starts it, but then it does not find its libraries. undefined: it is reached. */
function closedProblem({ program, runner }: Pick<Failed, 'program' | 'runner'>): string | undefined {
  const closed = isNobody(runner) ? closedFolder(dirname(program)) : undefined
  if (closed === undefined) return undefined
  return `${nobodyMayNotEnter(closed)}: install Postrider in a folder that everybody can enter, such as /opt/postrider, run it as an ordinary user, ${OWN}`
}

/** Why the program itself cannot be run. undefined: it can be. */
function programProblem({ program, runner }: Failed): string | ConfigError | undefined {
  if (!existsSync(program)) return `its program ${program} is missing: ${REINSTALL}`
  const closed = closedProblem({ program, runner })
  if (closed !== undefined) return closed
  if (!mayRun(program))
    return `${program} may not be executed: it lost its mode, or is on a disk mounted with noexec; ${REINSTALL}`
  if (isNobody(runner) && !works(['setpriv', '--version']))
    return `Postgres does not run as root, and setpriv, which changes the user, is missing: install util-linux, run Postrider as an ordinary user, ${OWN}`
  // The kernel says of a program whose loader is missing that it does not exist.
  return `this system cannot run ${program}: it needs glibc, which Alpine, for example, does not have; ${OWN.slice(3)}`
}

function mayRun(program: string): boolean {
  try {
    accessSync(program, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const nobodyMayNotEnter = (folder: string): string => {
  const mode = (statSync(folder).mode & 0o777).toString(8)
  return `user 65534 (\`nobody\`), as which root runs Postgres here, may not enter ${folder} (mode 0${mode})`
}

function accessProblem({ cluster, runner }: Failed): string | ConfigError | undefined {
  const folder = existsSync(cluster) ? cluster : dirname(cluster)
  const closed = isNobody(runner) ? closedFolder(dirname(folder)) : undefined
  if (closed !== undefined)
    return new ConfigError(
      'DATA_DIR',
      `is in a folder of root (${folder}): ${nobodyMayNotEnter(closed)}; set it to another folder, such as /var/lib/postrider, ` +
        `run Postrider as an ordinary user, ${OWN}`,
    )
  return ownerProblem(folder, runner)
}

/** Says so if a folder belongs to another user. */
function ownerProblem(folder: string, runner: readonly string[]): ConfigError {
  const { uid } = statSync(folder)
  const own = isNobody(runner) ? NOBODY : (process.getuid?.() ?? 0)
  const owned = uid === own ? 'has files of another user' : `belongs to user ${uid}`
  return new ConfigError(
    'DATA_DIR',
    `has a database that this user cannot use: ${folder} ${owned}; run Postrider as that user, or run chown -R ${own} ${folder}`,
  )
}

export const incompleteProblem = (cluster: string, lack: string): ConfigError =>
  new ConfigError(
    'DATA_DIR',
    `has no whole database: ${cluster} ${lack}; mount its disk if that is missing, restore a backup (docs/backup.md), or, if it was never used, delete it`,
  )

/** Says so if the database is of another version than `program`. */
function versionProblem({ cluster, binaries }: Failed): ConfigError | undefined {
  const made = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim()
  const { stdout } = spawnSync(binaries.postgres, ['--version'], { env: binaries.env, encoding: 'utf8' })
  const version = / (\d{1,3})/.exec(stdout)?.[1]
  if (version === undefined || made === version) return undefined
  return new ConfigError(
    'DATA_DIR',
    `has a database of Postgres ${made} (${cluster}), and the embedded one is ${version}: start it with the version of Postrider that made it, ` +
      'and move its data with pg_dump (docs/postgres.md#dump-and-restore)',
  )
}
