import { BackupError, commandLines, missingStandbys, PATIENCE, type Standby } from '@postrider/core'
import { type BaseBackup, findBackup } from '../backup/base-backup.ts'
import { missingSegment } from '../backup/missing-segment.ts'
import { withBackups } from '../backup/open-backups.ts'
import { backupFolderCheck } from './backup-folder-check.ts'
import type { Check } from './check.ts'
import { bad, bytesText, type CheckResult, counted, firstOf, NotChecked, ok, spanText, warn } from './check-result.ts'
import { readReplicaCheck } from './read-replica-check.ts'
import type { Readings } from './readings.ts'

const BEHIND_BYTES = { warn: 64 * 2 ** 20, bad: 2 ** 30 }
const BEHIND_SECONDS = { warn: 30, bad: 600 }
/** Bytes of WAL that a slot without a reader keeps. */
const RETAINED = { warn: 2 ** 30, bad: 16 * 2 ** 30 }

const HIDDEN =
  'the role of DATABASE_URL sees no details of the standbys; as a superuser: GRANT pg_read_all_stats TO the role'

const NOT_REQUIRED = 'set REQUIRE_SYNC_STANDBY=0 and restart the processes'

export const replicationChecks: readonly Check[] = [
  { area: 'replication', name: 'WAL archive', database: true, run: checkArchive },
  { area: 'replication', name: 'base backup', run: checkBaseBackup },
  backupFolderCheck,
  { area: 'replication', name: 'standbys', database: true, run: checkStandbys },
  { area: 'replication', name: 'replication lag', database: true, run: checkLag },
  { area: 'replication', name: 'replication slots', database: true, run: checkSlots },
  readReplicaCheck,
]

async function checkArchive({ server, config, env }: Readings): Promise<CheckResult> {
  const { archiveMode, archivedAt, archiveFailedAt } = await server()
  if (archiveMode === 'off') {
    if (config.delivery.kind === 'sandbox') return ok('off; the mail of the sandbox needs no backup')
    return warn(
      'archive_mode is off: after a loss of the disk, only what the last backup or a standby has can be restored',
      env.DATABASE_URL
        ? 'set archive_mode = on and archive_command (pgBackRest, WAL-G), and restart the server'
        : 'set BACKUP_DIR to a folder on another disk or host, then restart (docs/backup.md)',
    )
  }
  if (archiveFailedAt !== null && (archivedAt === null || archiveFailedAt > archivedAt))
    return bad(
      `archiving has failed since ${archiveFailedAt.toISOString()}; the WAL stays on the disk until it is full`,
      "run archive_command by hand; the server's log has its error",
    )
  return archivedAt === null
    ? warn('nothing has been archived yet', 'SELECT pg_switch_wal(), then run postrider doctor again')
    : ok(`WAL was last archived at ${archivedAt.toISOString()}`)
}

/** Only of backups that the service takes itself. */
async function checkBaseBackup({ config, env }: Readings): Promise<CheckResult | undefined> {
  const { backups } = config
  if (backups === undefined || env.DATABASE_URL) return undefined
  const { location, address, everyHours } = backups
  const fix = `postrider backup ${location}; look at the output of ${commandLines().start}, which takes one every ${counted(everyHours, 'hour')}`
  let found: { last: BaseBackup; missing: string | undefined } | undefined
  try {
    found = await withBackups(address, PATIENCE.short, async (store) => {
      const last = await findBackup(store)
      return last && { last, missing: await missingSegment(store, last) }
    })
  } catch (error) {
    if (error instanceof BackupError) return bad(`the backups cannot be read: ${error.message}`, fix)
    throw error
  }
  if (!found) return bad(`${location} has no base backup: nothing can be restored`, fix)
  const { last, missing } = found
  if (missing !== undefined)
    return bad(`changes after the last base backup are missing from segment ${missing} on, and cannot be restored`, fix)
  const hours = (Date.now() - new Date(last.finishedAt).getTime()) / 3_600_000
  const text = `the last one was complete at ${last.finishedAt}`
  if (hours > 7 * everyHours) return bad(text, fix)
  return hours > 2 * everyHours ? warn(text, fix) : ok(text)
}

async function checkStandbys({ server, replication, config: { requireSyncStandby } }: Readings): Promise<CheckResult> {
  if ((await server()).isStandby) throw new NotChecked('only the primary knows them')
  const { synchronous, needed, standbys } = await replication()
  if (standbys.some(isHidden)) throw new NotChecked(HIDDEN)
  const inSync = standbys.filter(({ sync }) => sync === 'sync' || sync === 'quorum')
  if (synchronous !== '' && inSync.length === 0)
    return bad(
      `synchronous_standby_names is "${synchronous}", but no such standby is connected: commits wait, and no mail is accepted`,
      `start the standby; or, if no other server accepts writes, go on without it: ALTER SYSTEM SET synchronous_standby_names = ''; SELECT ` +
        `pg_reload_conf()${requireSyncStandby ? `; ${NOT_REQUIRED}` : ''}`,
    )
  if (inSync.length > 0 && inSync.length < needed)
    return bad(
      `synchronous_standby_names is "${synchronous}", but ${missingStandbys({ connected: inSync.length, needed })}: commits wait, and no mail is accepted`,
      `connect another standby; or, to go on with fewer: ALTER SYSTEM SET synchronous_standby_names = 'ANY ${inSync.length} (*)'; SELECT pg_reload_conf()`,
    )
  if (standbys.length === 0)
    return requireSyncStandby
      ? bad(
          'there are none, and no mail is accepted without one (REQUIRE_SYNC_STANDBY=1)',
          `connect a synchronous standby (docs/high-availability.md); or, to go on without it: ${NOT_REQUIRED}`,
        )
      : ok('there are none; accepted mail is on one server')
  if (inSync.length === 0) {
    const found = `none of ${counted(standbys.length, 'standby')} is synchronous`
    const fix = `ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'; SELECT pg_reload_conf()`
    return requireSyncStandby
      ? bad(`${found}, and no mail is accepted without one (REQUIRE_SYNC_STANDBY=1)`, fix)
      : warn(`${found}, so a failover loses the last accepted messages`, fix)
  }
  return ok(`${firstOf(inSync.map(({ name, sync }) => `${name} (${sync})`))}`)
}

async function checkLag({ replication }: Readings): Promise<CheckResult | undefined> {
  const { standbys } = await replication()
  if (standbys.length === 0) return undefined
  if (standbys.some(isHidden)) throw new NotChecked(HIDDEN)
  const waiting = standbys.filter(({ state }) => state !== 'streaming')
  const behind = Math.max(...standbys.map(({ behind }) => behind ?? 0))
  const lag = Math.max(...standbys.map(({ lag }) => lag ?? 0))
  const states =
    waiting.length === 0 ? '' : `; not streaming: ${firstOf(waiting.map(({ name, state }) => `${name} (${state})`))}`
  const text = `the standby that is furthest behind lacks ${bytesText(behind)} (${spanText(lag)})${states}`
  const fix = 'SELECT * FROM pg_stat_replication; look at the network, disk and log of the standby'
  if (behind > BEHIND_BYTES.bad || lag > BEHIND_SECONDS.bad) return bad(text, fix)
  return behind > BEHIND_BYTES.warn || lag > BEHIND_SECONDS.warn || waiting.length > 0 ? warn(text, fix) : ok(text)
}

function isHidden({ state }: Standby): boolean {
  return state === ''
}

async function checkSlots({ replication }: Readings): Promise<CheckResult> {
  const { slots } = await replication()
  const unused = slots.filter(({ isActive, retained, walStatus }) => {
    return !isActive && ((retained ?? 0) > RETAINED.warn || walStatus === 'unreserved' || walStatus === 'lost')
  })
  const [worst] = unused
  if (worst === undefined) return ok(slots.length === 0 ? 'there are none' : 'none keeps much WAL')
  const text = `without a reader: ${firstOf(unused.map(({ name, retained }) => `${name} (keeps ${bytesText(retained ?? 0)} of WAL)`))}`
  const fix = `start its standby, or: SELECT pg_drop_replication_slot('${worst.name}')`
  return (worst.retained ?? 0) > RETAINED.bad || worst.walStatus === 'lost' ? bad(text, fix) : warn(text, fix)
}
