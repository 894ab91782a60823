import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { CommandError } from '../command.ts'
import { type BackupFolder, type BaseBackup, listBackups } from './folder.ts'
import { ARCHIVED } from './wal-segments.ts'

const HISTORY = `.history${ARCHIVED}`

/**
 * Returns the latest base backup from which the state at `to` can be recovered; undefined: the latest state.
 *
 * Throws {@link CommandError} if there is none.
 */
export function chooseBackup(folder: BackupFolder, to: Date | undefined): BaseBackup {
  const backups = listBackups(folder)
  if (backups.length === 0) throw new CommandError(`${folder.path} has no complete base backup`)
  const history = latestHistory(folder)
  const usable = backups.filter((backup) => leadsTo(backup, history))
  const found = usable.findLast(({ finishedAt }) => to === undefined || new Date(finishedAt) <= to)
  if (found) return found
  const first = usable[0]
  throw new CommandError(
    first
      ? `the earliest moment that can be restored is ${first.finishedAt}, when the oldest base backup was complete`
      : `no base backup in ${folder.path} belongs to the history of its latest changes`,
  )
}

/** The latest timeline of the archive. A timeline begins whenever a restored database starts. */
interface History {
  readonly timeline: number
  /** Where each earlier timeline that led to it was left. */
  readonly leftAt: ReadonlyMap<number, bigint>
}

function latestHistory({ wal }: BackupFolder): History {
  const name = existsSync(wal)
    ? readdirSync(wal)
        .filter((file) => file.endsWith(HISTORY))
        .sort()
        .at(-1)
    : undefined
  if (name === undefined) return { timeline: 1, leftAt: new Map() }
  const leftAt = new Map<number, bigint>()
  for (const line of gunzipSync(readFileSync(join(wal, name)))
    .toString()
    .split('\n')) {
    const [timeline, position] = line.trim().split('\t')
    if (timeline && position) leftAt.set(Number(timeline), positionOf(position))
  }
  return { timeline: Number.parseInt(name.slice(0, 8), 16), leftAt }
}

function leadsTo({ timeline, endsAt }: BaseBackup, history: History): boolean {
  if (timeline === history.timeline) return true
  const left = history.leftAt.get(timeline)
  return left !== undefined && positionOf(endsAt) <= left
}

/** A position of the write-ahead log, as "16/B374D848". */
function positionOf(text: string): bigint {
  const [high = '0', low = '0'] = text.split('/')
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`)
}
