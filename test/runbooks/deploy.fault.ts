import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { embeddedUrlFile, openDatabase } from '@postrider/core'
import t, { type Test } from 'tap'
import { beginUp, KEY, upSettings } from '../cli/postrider.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { until } from '../helpers/until.ts'
import { missingForPages, openSection, ruleOf } from './page.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const skip = missingForPages() ?? false
const folderOf = (name: string) => mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), name))
const PATIENCE_MS = 300_000
const REPLACED = 'all processes are replaced'

async function start(t: Test, env: Readonly<Record<string, string>>, root?: string) {
  const installation = beginUp(t, env, root)
  let ended = false
  void installation.exited.then(() => (ended = true))
  await until('everything to run', () => ended || installation.stdout.includes('Running.'), PATIENCE_MS)
  if (ended) throw new Error(`it did not start: ${installation.stdout}${installation.stderr}`)
  return installation
}

t.test(
  'a version that answers with errors is replaced by the one before, and no mail is lost',
  { skip, timeout: 900_000 },
  async (t) => {
    const folder = folderOf('deploy-')
    const inFolder = (command: string): string =>
      execFileSync('sh', ['-c', command], {
        cwd: folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
        env: {
          ...process.env,
          GIT_AUTHOR_NAME: 'test',
          GIT_AUTHOR_EMAIL: 'test',
          GIT_COMMITTER_NAME: 'test',
          GIT_COMMITTER_EMAIL: 'test',
        },
      }).trim()
    inFolder(`git clone --quiet --shared '${ROOT}' . && npm run -s setup`)
    const PREVIOUS = inFolder('git rev-parse HEAD')
    const env = await upSettings()
    const installation = await start(t, env, folder)
    const apiKey = KEY.exec(installation.stdout)?.[0] as string
    const sender = { accountId: 1, accountName: 'demo', domain: 'demo.example', apiKey }
    const send = () => sendV2(`http://127.0.0.1:${env.API_PORT}`, apiKey, v2Body(sender))
    const replaced = (times: number) =>
      until('all to be replaced', () => installation.stdout.split(REPLACED).length - 1 === times, PATIENCE_MS)
    t.equal((await send()).status, 200)

    const file = join(folder, 'packages/api/src/v2/messages/send-email.ts')
    const broken = readFileSync(file, 'utf8').replace('core.messages.accept(', 'core.messages.acceptMail(')
    writeFileSync(file, broken)
    inFolder('git commit --quiet --all --message "a bad version"')
    process.kill(installation.pid, 'SIGHUP')
    await replaced(1)
    t.equal((await send()).status, 500)
    t.match(installation.stdout, 'internal error')
    t.match(ruleOf('PostriderServerErrors', 'nothing-is-ready'), 'status_class="5xx"')

    const page = openSection('A bad deploy', env)
    await page.run('postrider doctor')
    inFolder(page.take('git checkout', { PREVIOUS }))
    await page.run('kill -HUP', { PID: String(installation.pid) })
    await replaced(2)
    t.equal((await send()).status, 200)
    const sql = openDatabase({
      url: readFileSync(embeddedUrlFile(env.DATA_DIR as string), 'utf8').trim(),
      name: 'test',
      connections: 1,
    })
    t.equal((await sql`select from messages`).length, 2, 'what was accepted is there')
    await sql.end()
    page.done(t)
  },
)

t.test(
  'a certificate that is about to expire is renewed while the relay works',
  { skip, timeout: 900_000 },
  async (t) => {
    const folder = folderOf('certificate-')
    const [TLS_CERT, TLS_KEY] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
    const issue = (days: number) =>
      execFileSync(
        'openssl',
        `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days ${days} -subj /CN=relay.test -addext subjectAltName=DNS:relay.test -keyout ${TLS_KEY} -out ${TLS_CERT}`.split(
          ' ',
        ),
        { stdio: 'ignore' },
      )
    issue(2)
    const env = await upSettings({ TLS_CERT, TLS_KEY, HELO_NAME: 'relay.test' })
    const installation = await start(t, env)
    const page = openSection('The certificate expires', env)
    const certificate = async () =>
      /^ *\S+ +certificate of the relay.*/m.exec((await page.run('postrider doctor')).stdout)?.[0]
    t.match((await page.run('postrider certificate')).stdout, TLS_CERT)
    t.match(await certificate(), /^ *bad .*valid for 1 days/)

    issue(90)
    t.match(await certificate(), /^ *bad .*valid for 1 days/, 'the relay still has the old one')
    await page.run('kill -HUP', { PID: String(installation.pid) })
    await until('all to be replaced', () => installation.stdout.includes(REPLACED), PATIENCE_MS)
    t.match(await certificate(), /^ *ok .*valid for 89 days/)
    page.done(t)
  },
)
