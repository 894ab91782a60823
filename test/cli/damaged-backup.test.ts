import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { chooseBackup } from '../../packages/cli/src/backup/choose-backup.ts'
import { isDue } from '../../packages/cli/src/backup/schedule.ts'
import { folderBackups } from '../../packages/core/src/platform/backups/folder-backups.ts'

const HOUR = 3_600_000
const now = Date.now()

/** A folder with an older backup and a newer one, whose summary was cut. */
function damaged() {
  const folder = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'damaged-'))
  mkdirSync(join(folder, 'base'))
  const [older, newer] = [nameOf(now - 9 * HOUR), nameOf(now - HOUR)]
  const at = (hours: number) => new Date(now - hours * HOUR).toISOString()
  writeFileSync(join(folder, 'base', `${older}.json`), JSON.stringify({ startedAt: at(9), finishedAt: at(8.9) }))
  writeFileSync(join(folder, 'base', `${newer}.json`), '{"startedAt": ')
  return { store: folderBackups(folder), older }
}

const nameOf = (time: number) => `${new Date(time).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`
const config = { location: 'a folder', address: { folder: 'a folder' }, everyHours: 24, keep: 7 }

t.test('a moment before a damaged backup is restored from an older one, and the latest state is not', async (t) => {
  const { store, older } = damaged()
  t.equal((await chooseBackup(store, new Date(now - 2 * HOUR))).name, older)
  t.equal((await chooseBackup(store, new Date(now))).name, older)
  await t.rejects(chooseBackup(store, undefined), /is damaged/)
})

t.test('after a damaged backup another one is due', async (t) => {
  t.equal(await isDue(damaged().store, config, now), true)
})
