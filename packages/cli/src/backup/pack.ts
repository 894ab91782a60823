import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { BackupStore } from '@postrider/core'
import { CommandError } from '../command.ts'
import { ifGone } from './list-tree.ts'

/** A file of a backup: its path in DATA_DIR, size and SHA-256. */
export interface PackedFile {
  readonly path: string
  readonly bytes: number
  readonly digest: string
}

/** The folders and files of a base backup. The contents of the files follow each other in the pieces. */
export interface PackList {
  readonly folders: readonly string[]
  readonly files: readonly PackedFile[]
}

/** The folder with a folder for each base backup. */
export const PIECES = 'pieces'
/** Bytes of a piece before its compression. */
export const PIECE_BYTES = 8 * 2 ** 20
/** Pieces that are written, or read ahead, at the same time: each takes up to three times its size in memory. */
export const PIECES_AT_ONCE = 3
/** Bytes that are read at a time. */
const CHUNK = 2 ** 20

export const piecesOf = (backup: string): string => `${PIECES}/${backup}`
export const piecePath = (backup: string, number: number): string =>
  `${piecesOf(backup)}/${String(number).padStart(8, '0')}.gz`
export const listPath = (backup: string): string => `${piecesOf(backup)}/files.gz`

const compress = promisify(gzip)

/** Writes the contents of files as pieces. */
export class Packer {
  readonly #store: BackupStore
  readonly #backup: string
  readonly #onBytes: (count: number) => void
  readonly #files: PackedFile[] = []
  readonly #writing = new Set<Promise<void>>()
  #piece = Buffer.allocUnsafe(PIECE_BYTES)
  #used = 0
  #pieces = 0

  constructor(store: BackupStore, backup: string, onBytes: (count: number) => void) {
    this.#store = store
    this.#backup = backup
    this.#onBytes = onBytes
  }

  /** Adds a file that may change meanwhile. Returns whether it still exists. */
  async addFile(path: string, from: string): Promise<boolean> {
    const source = await open(from, 'r').catch(ifGone)
    if (!source) return false
    try {
      const buffer = Buffer.allocUnsafe(CHUNK)
      const digest = createHash('sha256')
      let bytes = 0
      for (;;) {
        const { bytesRead } = await source.read(buffer, 0, CHUNK, null)
        if (bytesRead === 0) break
        const chunk = buffer.subarray(0, bytesRead)
        digest.update(chunk)
        bytes += bytesRead
        await this.#append(chunk)
      }
      this.#files.push({ path, bytes, digest: digest.digest('hex') })
      return true
    } finally {
      await source.close()
    }
  }

  async addText(path: string, text: string): Promise<void> {
    const content = Buffer.from(text)
    await this.#append(content)
    this.#files.push({ path, bytes: content.length, digest: createHash('sha256').update(content).digest('hex') })
  }

  /** Resolves when all is stored. */
  async end(
    folders: readonly string[],
  ): Promise<{ files: number; bytes: number; pieces: number; filesDigest: string }> {
    if (this.#used > 0) await this.#write()
    await Promise.all(this.#writing)
    const files = this.#files
    const list = Buffer.from(JSON.stringify({ folders, files } satisfies PackList))
    await this.#store.write(listPath(this.#backup), await compress(list))
    return {
      files: files.length,
      bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
      pieces: this.#pieces,
      filesDigest: createHash('sha256').update(list).digest('hex'),
    }
  }

  /** Resolves when no write is in progress. */
  async abandon(): Promise<void> {
    await Promise.allSettled(this.#writing)
  }

  async #append(chunk: Buffer): Promise<void> {
    this.#onBytes(chunk.length)
    for (let at = 0; at < chunk.length; ) {
      const copied = chunk.copy(this.#piece, this.#used, at)
      at += copied
      this.#used += copied
      if (this.#used === PIECE_BYTES) await this.#write()
    }
  }

  async #write(): Promise<void> {
    const content = this.#piece.subarray(0, this.#used)
    this.#piece = Buffer.allocUnsafe(PIECE_BYTES)
    this.#used = 0
    const path = piecePath(this.#backup, ++this.#pieces)
    const writing = compress(content, { level: 1 }).then((compressed) => this.#store.write(path, compressed))
    this.#writing.add(writing)
    // One that fails stays, and is thrown by whatever waits next.
    writing.then(
      () => this.#writing.delete(writing),
      () => {},
    )
    if (this.#writing.size >= PIECES_AT_ONCE) await Promise.race(this.#writing)
  }
}

/** The error for a backup that cannot be restored. */
export function damage(what: string, finishedAt: string): CommandError {
  return new CommandError(
    `${what}: this base backup cannot be restored. Take a new one with "postrider backup"; an older one is used for --to-time before ${finishedAt}`,
  )
}
