import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { takeLock } from '../../packages/cli/src/embedded-postgres/owner.ts'
import { isInTime } from '../helpers/pace.ts'
import { examined, foundBy } from './doctor.ts'
import { postrider } from './postrider.ts'

const folder = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'full-'))
// Less than a segment of the write-ahead log, so it counts as full.
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder]).status === 0
const skip = mounted ? false : 'this user may not mount a disk'

t.test(
  'while npm start cannot start the database on a full disk, commands say so within seconds',
  { skip },
  async (t) => {
    t.teardown(() => execFileSync('umount', ['--lazy', folder]))
    mkdirSync(join(folder, 'postgres'))
    t.ok('release' in takeLock(join(folder, 'postgres.lock'), 'up'))
    const env = { DATA_DIR: folder }
    const began = performance.now()
    const { code, stderr } = await postrider(env, 'queue')
    t.match(
      stderr,
      /^postrider: the disk of DATA_DIR \(.*\) is full, so process \d+ cannot start the database; free space/,
    )
    t.equal(code, 1)
    t.ok(isInTime(began, 30_000))
    t.match(
      foundBy(await examined(env), 'connection'),
      /^bad: could not connect: the disk of DATA_DIR .* is full, .*; fix: .*\/postgres\.log/,
    )
  },
)
