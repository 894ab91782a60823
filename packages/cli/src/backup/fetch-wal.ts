import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

/**
 * The restore_command of a database that is restored: `fetch-wal.ts ARCHIVED TARGET` decompresses a file of the archive. It ends with 1 if
 * the archive does not have the file, at which recovery goes on with what the base backup contains, and with 255 if the file is
 * damaged, at which recovery stops with an error instead of an earlier state.
 */
const [archived = '', target = ''] = process.argv.slice(2)
if (!existsSync(archived)) process.exit(1)
try {
  writeFileSync(target, gunzipSync(readFileSync(archived)), { mode: 0o600 })
} catch (error) {
  process.stderr.write(`${archived} is damaged (${(error as NodeJS.ErrnoException).code})\n`)
  process.exit(255)
}
