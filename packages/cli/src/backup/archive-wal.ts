import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { decompressed, openForServer } from './wal-program.ts'
import { archivePath } from './wal-segments.ts'

/**
 * The archive_command of the embedded database: `archive-wal.ts FILE NAME` stores a file of the write-ahead log, compressed. It ends with 0
 * only if it is durable, whole, with its name. Then the server may reuse the segment; otherwise it keeps it and tries again.
 *
 * A file that is stored is not replaced: the command succeeds if its content is the same (the server died before it noted the success),
 * and fails if not.
 */
const [file = '', name = ''] = process.argv.slice(2)
const path = archivePath(name)
try {
  const store = await openForServer(process.env)
  const content = readFileSync(file)
  const where = `${store.name}/${path}`
  const stored = await store.read(path)
  if (stored === undefined) await store.write(path, gzipSync(content, { level: 1 }))
  else if (!decompressed(stored, where).equals(content))
    throw new Error(`${where} exists with another content; another database may use these backups`)
  // Also written again if it is the same: an earlier run may have been killed before it was durable.
  else await store.write(path, stored)
  store.close()
} catch (error) {
  process.stderr.write(`cannot archive ${name}: ${(error as Error).message}\n`)
  process.exitCode = 1
}
