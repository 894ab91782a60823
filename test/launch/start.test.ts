import { execFile } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'

const run = promisify(execFile)
const ROOT = new URL('../../', import.meta.url).pathname

/** A checkout whose programs are replaced: `npx` installs what it is told to by writing the files that pnpm writes, and `node` does nothing. */
function makeCheckout(t: Test) {
  // In no folder that has programs of ours: npm looks for them in all that are above.
  const folder = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'start-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const bin = join(folder, 'bin')
  const notes = join(folder, 'notes')
  for (const one of ['package.json', 'pnpm-lock.yaml']) cpSync(join(ROOT, one), join(folder, one))
  mkdirSync(bin)
  const writeProgram = (name: string, text: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  writeProgram(
    'npx',
    `mkdir -p node_modules/.pnpm
case "$*" in
  *--prod*) echo production >> '${notes}'; echo some > node_modules/.pnpm/lock.yaml ;;
  *) echo everything >> '${notes}'; mkdir -p node_modules/typescript; cp pnpm-lock.yaml node_modules/.pnpm/lock.yaml ;;
esac`,
  )
  writeProgram(
    'node',
    `case "$*" in *npm*) exec ${process.execPath} "$@" ;; *' up') echo started >> '${notes}' ;; esac`,
  )
  return {
    async npm(...args: string[]) {
      await run('npm', args, { cwd: folder, env: { ...process.env, PATH: `${bin}:${process.env.PATH}` } })
      const did = existsSync(notes) ? readFileSync(notes, 'utf8').trim().split('\n') : []
      writeFileSync(notes, '')
      return did
    },
    pull: () => writeFileSync(join(folder, 'pnpm-lock.yaml'), 'another'),
  }
}

t.test('npm start installs what the service needs, once for each list of dependencies', async (t) => {
  const { npm, pull } = makeCheckout(t)
  t.strictSame(await npm('start'), ['production', 'started'])
  t.strictSame(await npm('start'), ['started'])
  pull()
  t.strictSame(await npm('start'), ['production', 'started'])
})

t.test('npm run setup completes it, and from then on npm start takes nothing away', async (t) => {
  const { npm, pull } = makeCheckout(t)
  await npm('start')
  t.strictSame(await npm('run', 'setup'), ['everything'])
  t.strictSame(await npm('start'), ['started'])
  pull()
  t.strictSame(await npm('start'), ['everything', 'started'])
})
