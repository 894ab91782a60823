import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Bytes that are read at a time. */
const CHUNK = 2 ** 20

/** A file of a backup: its path in the cluster, size and SHA-256. */
export interface CopiedFile {
  readonly path: string
  readonly bytes: number
  readonly digest: string
}

/** Files and folders of a folder and all below it, as relative paths; a folder precedes what it contains. */
export interface Tree {
  readonly folders: readonly string[]
  readonly files: readonly string[]
}

/** Lists a tree without what `isLeftOut` names. Links are not followed, and not listed. */
export async function listTree(root: string, isLeftOut: (path: string) => boolean = () => false): Promise<Tree> {
  const tree = { folders: [] as string[], files: [] as string[] }
  const pending = ['']
  for (let folder = pending.shift(); folder !== undefined; folder = pending.shift()) {
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(ifGone)
    for (const entry of entries ?? []) {
      const path = join(folder, entry.name)
      if (isLeftOut(path)) continue
      if (entry.isDirectory()) {
        tree.folders.push(path)
        pending.push(path)
      } else if (entry.isFile()) tree.files.push(path)
    }
  }
  return tree
}

/**
 * Copies a file that may change meanwhile to a new one, and syncs that. Returns undefined if the file no longer exists. Throws if the
 * target exists.
 */
export async function copyFile(
  from: string,
  to: string,
  onBytes: (count: number) => void = () => {},
): Promise<Omit<CopiedFile, 'path'> | undefined> {
  const source = await open(from, 'r').catch(ifGone)
  if (!source) return undefined
  try {
    const target = await open(to, 'wx', 0o600)
    try {
      const digest = createHash('sha256')
      let bytes = 0
      for await (const chunk of chunksOf(source)) {
        digest.update(chunk)
        await writeAll(target, chunk)
        bytes += chunk.length
        onBytes(chunk.length)
      }
      await target.sync()
      return { bytes, digest: digest.digest('hex') }
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

export async function digestOf(path: string): Promise<Omit<CopiedFile, 'path'> | undefined> {
  const source = await open(path, 'r').catch(ifGone)
  if (!source) return undefined
  try {
    const digest = createHash('sha256')
    let bytes = 0
    for await (const chunk of chunksOf(source)) {
      digest.update(chunk)
      bytes += chunk.length
    }
    return { bytes, digest: digest.digest('hex') }
  } finally {
    await source.close()
  }
}

export async function makeFolders(root: string, folders: readonly string[]): Promise<void> {
  for (const folder of folders) await mkdir(join(root, folder), { recursive: true, mode: 0o700 })
}

async function* chunksOf(file: FileHandle): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(CHUNK)
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, CHUNK, null)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
  }
}

async function writeAll(file: FileHandle, chunk: Buffer): Promise<void> {
  for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at)).bytesWritten
}

function ifGone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
