import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'

/**
 * The archive_command of the embedded database: `archive-wal.ts SEGMENT TARGET` compresses a file of the write-ahead log to TARGET. It
 * ends with 0 only if the target is on the disk, whole, with its name. Then the server may reuse the segment; otherwise it tries again.
 *
 * A target that exists is not replaced: the command succeeds if its content is the same (the server died before it noted the success),
 * and fails if not. A program of its own that imports nothing of the service, since the server starts it for each segment.
 */
const [segment = '', target = ''] = process.argv.slice(2)
const content = readFileSync(segment)
if (existsSync(target)) requireSame()
else store()
sync(dirname(target))

function store(): void {
  const temporary = `${target}.${randomBytes(4).toString('hex')}.new`
  try {
    writeFileSync(temporary, gzipSync(content, { level: 1 }), { mode: 0o600, flag: 'wx', flush: true })
    // link, not rename: it fails if the target exists.
    linkSync(temporary, target)
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** Also synced: an earlier run may have been killed before it did so. */
function requireSame(): void {
  if (!gunzipSync(readFileSync(target)).equals(content)) {
    process.stderr.write(`${target} exists with another content; the backup folder may be used by another database\n`)
    process.exit(1)
  }
  sync(target)
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
