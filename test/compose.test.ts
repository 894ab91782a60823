import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const SCRIPT = fileURLToPath(new URL('../deploy/compose/secrets.sh', import.meta.url))

function run(before?: string): { readonly folder: string; readonly text: () => string; readonly again: () => string } {
  const folder = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'compose-'))
  if (before !== undefined) writeFileSync(join(folder, '.env'), before)
  const again = () => execFileSync('sh', [SCRIPT], { cwd: folder, encoding: 'utf8' })
  again()
  return { folder, again, text: () => readFileSync(join(folder, '.env'), 'utf8') }
}

t.test('the secrets of compose.yaml are written once, for their owner alone', async (t) => {
  const { folder, text, again } = run()
  t.match(text(), /^SECRET_KEY=[0-9a-f]{64}\nPOSTGRES_PASSWORD=[0-9a-f]{64}\n$/)
  t.equal(statSync(join(folder, '.env')).mode & 0o777, 0o600)
  const before = text()
  t.equal(again(), '')
  t.equal(text(), before)
})

t.test('what is in .env stays, and what is missing is added on lines of its own', async (t) => {
  const { folder, text, again } = run('POSTGRES_PASSWORD=own\nDELIVERY=mx')
  t.match(text(), /^POSTGRES_PASSWORD=own\nDELIVERY=mx\nSECRET_KEY=[0-9a-f]{64}\n$/)
  writeFileSync(join(folder, '.env'), 'SECRET_KEY=\n')
  appendFileSync(join(folder, '.env'), 'POSTGRES_PASSWORD=x')
  again()
  t.match(
    text(),
    /^SECRET_KEY=\nPOSTGRES_PASSWORD=x\nSECRET_KEY=[0-9a-f]{64}\n$/,
    'an empty value is none; the last line counts',
  )
})
