import type { BackupStore } from '@postrider/core'

/** Bytes of a segment of the write-ahead log; initdb's default, which the embedded database has. */
export const SEGMENT_BYTES = 16 * 2 ** 20
const SEGMENTS_PER_ID = 2 ** 32 / SEGMENT_BYTES
/** The folder of the archived write-ahead log, which has one compressed file for each segment. */
export const WAL = 'wal'
/** The ending of an archived file. */
const ARCHIVED = '.gz'
const NAME_LENGTH = 24
const TIMELINE_LENGTH = 8

/** A segment of the write-ahead log, or its place in the log of another timeline. */
export interface Segment {
  readonly timeline: number
  /** Position in the log: the next segment has the next number. */
  readonly number: number
}

/** Returns undefined if the name is not that of a whole segment: `.partial`, `.backup` and `.history` files are not. */
export function segmentNamed(name: string): Segment | undefined {
  if (!/^[0-9A-F]{24}$/.test(name)) return undefined
  const [timeline = 0, id = 0, part = 0] = [0, 8, 16].map((at) => Number.parseInt(name.slice(at, at + 8), 16))
  return { timeline, number: id * SEGMENTS_PER_ID + part }
}

export function segmentName({ timeline, number }: Segment): string {
  const parts = [timeline, Math.floor(number / SEGMENTS_PER_ID), number % SEGMENTS_PER_ID]
  return parts.map((part) => part.toString(16).toUpperCase().padStart(TIMELINE_LENGTH, '0')).join('')
}

/** The path of a file of the write-ahead log in the archive. */
export function archivePath(name: string): string {
  return `${WAL}/${name}${ARCHIVED}`
}

/** The segment that a file of the archive belongs to: it is that, or a note of a backup that began there; undefined for others. */
export function segmentOf(path: string): Segment | undefined {
  return segmentNamed(nameIn(path))
}

/** Whether a file of the archive is a segment, and not a note. */
export function isWhole(path: string): boolean {
  return path === archivePath(nameIn(path)) && segmentOf(path) !== undefined
}

function nameIn(path: string): string {
  return path.slice(WAL.length + 1, WAL.length + 1 + NAME_LENGTH)
}

/** Returns the whole segments in the archive whose paths follow `after`, in the order of the log. */
export async function listArchived(store: BackupStore, after?: string): Promise<Segment[]> {
  return (await store.list(WAL, after))
    .filter(isWhole)
    .flatMap((path) => segmentOf(path) ?? [])
    .toSorted((a, b) => a.number - b.number || a.timeline - b.timeline)
}

/** Returns the first segment after `from` that is missing although a later one is archived; undefined if none is. */
export function firstGap(archived: readonly Segment[], from: number): number | undefined {
  let expected = from
  for (const { number } of archived) {
    if (number < expected) continue
    if (number > expected) return expected
    expected = number + 1
  }
  return undefined
}
