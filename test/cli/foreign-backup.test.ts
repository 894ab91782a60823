import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import type { BaseBackup } from '../../packages/cli/src/backup/base-backup.ts'
import { listPath, PIECE_BYTES, piecePath } from '../../packages/cli/src/backup/pack.ts'
import { unpack } from '../../packages/cli/src/backup/unpack.ts'
import { folderBackups } from '../../packages/core/src/platform/backups/folder-backups.ts'

const CONTENT = Buffer.from('root::0:0::/root:/bin/sh\n')
const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex')
const fileAt = (path: string) => ({ path, bytes: CONTENT.length, digest: sha256(CONTENT) })

interface Forged {
  readonly list: Buffer
  readonly pieces?: readonly Buffer[]
}

/** Unpacks a backup that somebody else has made, in a folder beside which nothing may be written. */
async function unpackForged({ list, pieces = [CONTENT] }: Forged) {
  const folder = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'foreign-'))
  const into = join(folder, 'data', 'new')
  mkdirSync(into, { recursive: true })
  const store = folderBackups(join(folder, 'backups'))
  const name = '20260101T000000Z'
  await store.write(listPath(name), gzipSync(list))
  for (const [at, piece] of pieces.entries()) await store.write(piecePath(name, at + 1), gzipSync(piece))
  const finishedAt = '2026-01-01T00:00:00.000Z'
  const backup = { name, finishedAt, pieces: pieces.length, filesDigest: sha256(list) } as BaseBackup
  let written = 0
  const done = unpack({ store, backup, into, onBytes: (count) => (written += count) })
  return { done, into, folder, written: () => written }
}

const listOf = (folders: readonly string[], files: readonly object[]) => Buffer.from(JSON.stringify({ folders, files }))

t.test('a backup of our own form is unpacked', async (t) => {
  const { done, into } = await unpackForged({ list: listOf(['postgres'], [fileAt('postgres/PG_VERSION')]) })
  await done
  t.ok(existsSync(join(into, 'postgres', 'PG_VERSION')))
})

t.test('a backup whose list leads outside of DATA_DIR is refused before anything is written', async (t) => {
  for (const path of ['../outside', '/etc/cron.d/outside', 'a/../../outside', 'postgres/../../../outside', '..']) {
    for (const list of [listOf([path], []), listOf([], [fileAt(path)]), listOf(['postgres'], [fileAt(path)])]) {
      const { done, folder, into } = await unpackForged({ list })
      await t.rejects(done, /has paths outside of DATA_DIR/, path)
      t.strictSame([readdirSync(into), readdirSync(join(folder, 'data'))], [[], ['new']], path)
    }
  }
})

t.test('a list or a piece that unpacks to more than its limit is damaged', async (t) => {
  const huge = Buffer.alloc(300 * 2 ** 20)
  const { done } = await unpackForged({ list: huge })
  await t.rejects(done, /files\.gz is damaged/)
  const piece = Buffer.alloc(PIECE_BYTES + 1)
  const one = await unpackForged({
    list: listOf([], [{ path: 'a', bytes: piece.length, digest: sha256(piece) }]),
    pieces: [piece],
  })
  await t.rejects(one.done, /00000001\.gz is damaged/)
  t.equal(one.written(), 0)
})

t.test('a file that says to be larger than all pieces, or has another content, is damaged', async (t) => {
  const longer = await unpackForged({ list: listOf([], [{ ...fileAt('a'), bytes: 2 ** 50 }]) })
  await t.rejects(longer.done, /a is incomplete/)
  t.equal(longer.written(), CONTENT.length)
  const other = await unpackForged({ list: listOf([], [{ ...fileAt('a'), digest: sha256(Buffer.from('b')) }]) })
  await t.rejects(other.done, /a is damaged/)
})
