import { writeFileSync } from 'node:fs'
import { decompressed, openForServer } from './wal-program.ts'
import { archivePath } from './wal-segments.ts'

/**
 * The restore_command of a database that is restored: `fetch-wal.ts NAME TARGET` decompresses a file of the archive. It ends with 1 if the
 * archive does not have the file, at which recovery goes on with what the base backup contains, and with 255 if the file is damaged or
 * cannot be read, at which recovery stops with an error instead of an earlier state.
 */
const [name = '', target = ''] = process.argv.slice(2)
const path = archivePath(name)
try {
  const store = await openForServer(process.env)
  const content = await store.read(path)
  if (content === undefined) process.exitCode = 1
  else writeFileSync(target, decompressed(content, `${store.name}/${path}`), { mode: 0o600 })
  store.close()
} catch (error) {
  process.stderr.write(`cannot restore ${name}: ${(error as Error).message}\n`)
  process.exitCode = 255
}
