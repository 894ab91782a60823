import { createHash } from 'node:crypto'
import { mkdir, open } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { BackupError, type BackupStore } from '@postrider/core'
import type { BaseBackup } from './base-backup.ts'
import { damage, listPath, type PackedFile, type PackList, PIECE_BYTES, PIECES_AT_ONCE, piecePath } from './pack.ts'

export interface UnpackOptions {
  readonly store: BackupStore
  readonly backup: BaseBackup
  /** An empty folder. */
  readonly into: string
  readonly onBytes: (count: number) => void
}

/** Bytes of the list of files: a million files. */
const MAX_LIST_BYTES = 256 * 2 ** 20
const decompress = promisify(gunzip)

/**
 * Writes the files of a base backup, and syncs them.
 *
 * Throws CommandError if any of it is missing or damaged.
 */
export async function unpack({ store, backup, into, onBytes }: UnpackOptions): Promise<void> {
  const { folders, files } = await readList(store, backup)
  for (const path of folders) await mkdir(join(into, path), { recursive: true, mode: 0o700 })
  const pieces = readAhead(store, backup)
  let rest: Buffer = Buffer.alloc(0)
  for (const file of files) {
    const target = await open(join(into, file.path), 'wx', 0o600)
    try {
      const digest = createHash('sha256')
      for (let left = file.bytes; left > 0; ) {
        if (rest.length === 0) rest = (await pieces.next()).value ?? Buffer.alloc(0)
        if (rest.length === 0) throw damage(`${file.path} is incomplete in ${nameOf(store, backup)}`, backup.finishedAt)
        const chunk = rest.subarray(0, left)
        rest = rest.subarray(chunk.length)
        left -= chunk.length
        digest.update(chunk)
        await target.writeFile(chunk)
        onBytes(chunk.length)
      }
      if (digest.digest('hex') !== file.digest)
        throw damage(`${file.path} is damaged in ${nameOf(store, backup)}`, backup.finishedAt)
      await target.sync()
    } finally {
      await target.close()
    }
  }
}

async function readList(store: BackupStore, backup: BaseBackup): Promise<PackList> {
  const path = listPath(backup.name)
  const list = await readWhole(store, backup, path, MAX_LIST_BYTES)
  if (createHash('sha256').update(list).digest('hex') !== backup.filesDigest)
    throw damage(`${store.name}/${path} is damaged`, backup.finishedAt)
  const found = JSON.parse(list.toString('utf8')) as PackList
  if ([...found.folders, ...found.files.map(({ path }: PackedFile) => path)].some(isOutside))
    throw damage(`${store.name}/${path} has paths outside of DATA_DIR`, backup.finishedAt)
  return found
}

function isOutside(path: string): boolean {
  return isAbsolute(path) || path.split('/').includes('..')
}

async function* readAhead(store: BackupStore, backup: BaseBackup): AsyncGenerator<Buffer, undefined> {
  const reading: Promise<Buffer>[] = []
  for (let next = 1; next <= backup.pieces || reading.length > 0; ) {
    while (next <= backup.pieces && reading.length < PIECES_AT_ONCE) {
      const piece = readWhole(store, backup, piecePath(backup.name, next++), PIECE_BYTES)
      // Thrown when it is its turn.
      piece.catch(() => {})
      reading.push(piece)
    }
    yield (await reading.shift()) as Buffer
  }
}

async function readWhole(store: BackupStore, backup: BaseBackup, path: string, mostBytes: number): Promise<Buffer> {
  const stored = await store.read(path).catch((error) => {
    throw error instanceof BackupError && error.kind === 'damaged' ? damage(error.message, backup.finishedAt) : error
  })
  if (!stored) throw damage(`${store.name}/${path} is missing`, backup.finishedAt)
  try {
    return await decompress(stored, { maxOutputLength: mostBytes })
  } catch {
    throw damage(`${store.name}/${path} is damaged`, backup.finishedAt)
  }
}

function nameOf(store: BackupStore, { name }: BaseBackup): string {
  return `the base backup ${name} of ${store.name}`
}
