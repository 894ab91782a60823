import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { parse } from 'yaml'

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), 'utf8')
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

t.test('with a host name, HTTPS at it is turned on, once; one that is not valid changes nothing', async (t) => {
  const { folder, text } = run()
  const of = (host: string) => spawnSync('sh', [SCRIPT, host], { cwd: folder, encoding: 'utf8' })
  const before = text()
  for (const wrong of [
    'localhost',
    'https://mail.example.com',
    'mail.example.com/x',
    'a b.example',
    '',
    '.example',
    'mail..example',
  ]) {
    t.match(of(wrong), { status: 2, stderr: /is no host name such as mail\.example\.com/ }, wrong)
    t.equal(text(), before)
  }
  t.match(of('mail.example.com'), { status: 0, stdout: /^COMPOSE_PROFILES was written/ })
  t.equal(
    text(),
    `${before}COMPOSE_PROFILES=tls\nPUBLIC_HOST=mail.example.com\nPUBLIC_URL=https://mail.example.com\n` +
      'TRUST_PROXY=172.16.0.0/12,192.168.0.0/16\n',
  )
  t.match(of('mail.example.com'), { status: 0, stdout: '' })
})

t.test('the proxy is in a profile, and has the variables that its file reads', async (t) => {
  const { services } = parse(read('compose.yaml')) as {
    services: Record<string, { profiles?: string[]; environment?: object }>
  }
  t.strictSame(services.proxy?.profiles, ['tls'])
  const variables = [...read('deploy/caddy/Caddyfile').matchAll(/\{\$(\w+)/g)].map(([, name]) => name as string)
  t.strictSame([...new Set(variables)].sort(), Object.keys(services.proxy?.environment ?? {}).sort())
  t.match(read('compose.yaml').split('\n')[0], /Docker Compose 2\.24 or newer/)
})
