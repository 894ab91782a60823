import { closeSync, ftruncateSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { hasProcessEnded, identityOf, type Log, type ProcessIdentity, type Result } from '@postrider/core'

/**
 * Notes of the answers to end of data, in a file of the worker. A note is written before anything else is done with the answer, while its outcome takes
 * some 10 ms until it is committed: if the worker is killed meanwhile, another one of its host records the outcomes from the file, instead
 * of offering these messages again. Not flushed to disk: what a crash of the host loses is marked as indeterminate, as before.
 */
export interface AnswerNotes {
  /** Notes the outcome of a delivery whose end of data was answered. */
  add(result: Result): void
  /** The outcome is committed. */
  settle(result: Result): void
  /** Deletes the file, unless some outcome is not committed. */
  close(): void
}

/** Characters in the file after which it is written again, with only the notes that are not settled. */
const MAX_FILE = 1_000_000
/** Characters of a note; a longer one is not written. */
const MAX_NOTE = 8000

/** `log`: told once if the folder cannot be written, as when the file system is read-only; nothing is noted then. */
export function openAnswerNotes(dataDir: string, workerId: number, log: Log): AnswerNotes {
  const path = fileOf(dataDir, workerId)
  const head = `${JSON.stringify(identityOf(process.pid))}\n`
  const open = new Map<Result, string>()
  let file: number | undefined
  /** Characters of notes in the file. */
  let length = 0
  let most = MAX_FILE
  const change = (act: (file: number) => void): void => {
    if (file === undefined) return
    try {
      act(file)
    } catch (err) {
      log.warn({ err }, 'answers of other servers are no longer noted in DATA_DIR')
      closeSync(file)
      file = undefined
    }
  }
  const empty = (file: number): void => {
    ftruncateSync(file, head.length)
    length = 0
  }
  try {
    mkdirSync(folderOf(dataDir), { recursive: true, mode: 0o700 })
    file = openSync(path, 'a', 0o600)
    // One with this number is of a database that was restored since; its first line names a process that has ended.
    ftruncateSync(file)
    writeAll(file, head)
  } catch (err) {
    log.info({ err }, 'answers of other servers are not noted: DATA_DIR cannot be written')
  }
  return {
    add(result) {
      if (file === undefined) return
      const note = `${JSON.stringify(result)}\n`
      if (note.length > MAX_NOTE) return
      open.set(result, note)
      change((file) => {
        const isFull = length > most
        if (isFull) empty(file)
        const text = isFull ? [...open.values()].join('') : note
        writeAll(file, text)
        length += text.length
        // With many that are not settled, as while the database is away, each note would otherwise write all of them again.
        if (isFull) most = Math.max(MAX_FILE, 2 * length)
      })
    },
    settle(result) {
      open.delete(result)
      // Replies may have addresses, which are not to outlive their erasure here.
      if (open.size === 0 && length > 0) change(empty)
    },
    close() {
      if (file === undefined) return
      closeSync(file)
      file = undefined
      if (open.size === 0) rmSync(path, { force: true })
    },
  }
}

/** A disk that is nearly full takes a part of it, behind which the next note would not be a line of its own. */
function writeAll(file: number, text: string): void {
  const octets = Buffer.from(text)
  for (let at = 0; at < octets.length; ) at += writeSync(file, octets, at)
}

/** The files of workers in DATA_DIR. */
export interface LeftNotes {
  /** Whether the process of a worker has surely ended. */
  isGone(workerId: number): boolean
  /** The outcomes that a worker noted. */
  of(workerId: number): Result[]
  remove(workerId: number): void
  /** The workers of which there is a file, whichever host or container they ran in. */
  workers(): number[]
}

export function leftNotes(dataDir: string): LeftNotes {
  const linesOf = (workerId: number): string[] => {
    try {
      return readFileSync(fileOf(dataDir, workerId), 'utf8').split('\n')
    } catch {
      return []
    }
  }
  const isGone = (workerId: number): boolean => {
    const owner = parsed<ProcessIdentity>(linesOf(workerId)[0])
    return owner !== undefined && hasProcessEnded(owner)
  }
  return {
    isGone,
    of: (workerId) =>
      linesOf(workerId)
        .slice(1)
        .flatMap((line) => parsed<Result>(line) ?? [])
        .filter((result) => result.workerId === workerId && result.outcome !== undefined),
    remove: (workerId) => rmSync(fileOf(dataDir, workerId), { force: true }),
    workers() {
      try {
        return readdirSync(folderOf(dataDir)).map(Number).filter(Number.isSafeInteger)
      } catch {
        return []
      }
    },
  }
}

/** The last line may be incomplete. */
function parsed<T extends object>(line = ''): T | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? (value as T) : undefined
  } catch {
    return undefined
  }
}

const folderOf = (dataDir: string): string => join(dataDir, 'workers')
const fileOf = (dataDir: string, workerId: number): string => join(folderOf(dataDir), String(workerId))
