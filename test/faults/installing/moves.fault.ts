import { execFileSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { beginUp, KEY } from '../../cli/postrider.ts'
import { until } from '../../helpers/until.ts'
import { missingForBare, ROOT, startBare } from './bare.ts'
import { deliver, follow, isReady, settings } from './following.ts'

/* A checkout of an old version, with mail that waits, is taken over by the packages, by the lines of the page. */

const UPGRADING = 'docs/upgrading.md, "From a checkout to a package"'
/** The last version before the baseline. */
const PREVIOUS = process.env.PREVIOUS || 'ce6262ae'
const skip = missingForBare() ?? false
const WAITING = 30
const SENT = 5

/** With its modes, without which Postgres refuses its folder. */
const copy = (from: string, to: string) => execFileSync('cp', ['-a', from, to])

interface Old {
  /** Its DATA_DIR; each test has a copy. */
  readonly data: string
  readonly key: string
}

function checkOut(): string {
  const folder = mkdtempSync(join(tmpdir(), 'previous-'))
  t.teardown(() => execFileSync('rm', ['-rf', folder]))
  execFileSync('git', ['clone', '--quiet', '--shared', '--no-checkout', ROOT, folder])
  execFileSync('git', ['checkout', '--quiet', '--detach', PREVIOUS], { cwd: folder })
  execFileSync('npm', ['run', '-s', 'setup'], { cwd: folder, stdio: 'ignore' })
  return folder
}

async function send(port: string, key: string, subject: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/v2/sendEmail`, {
    method: 'POST',
    headers: { api_key: key, 'content-type': 'application/json' },
    body: JSON.stringify({
      personalizations: [{ recipient: 'you@example.org' }],
      from: { fromEmail: 'hello@demo.example' },
      subject,
      content: '<p>It waits.</p>',
    }),
  })
  if (response.status !== 200) throw new Error(await response.text())
}

async function subjects(port: string): Promise<string[]> {
  const response = await fetch(`http://127.0.0.1:${port}/messages?limit=200`)
  return ((await response.json()) as { subject: string }[]).map(({ subject }) => subject).sort()
}

const numbered = (what: string, count: number) => Array.from({ length: count }, (_, at) => `${what} ${at + 1}`)

/** Runs the old version until mail has been delivered and mail waits, because its account is held. */
async function runOld(t: Test): Promise<Old> {
  const root = checkOut()
  const data = mkdtempSync(join(tmpdir(), 'old-data-'))
  t.teardown(() => execFileSync('rm', ['-rf', data]))
  const env = { ...(await settings()), DATA_DIR: data } as Record<string, string>
  const old = beginUp(t, env, root)
  await until('the old version', () => old.stdout.includes('Running.'), 60_000)
  const key = KEY.exec(old.stdout)?.[0] as string
  for (const subject of numbered('sent', SENT)) await send(env.API_PORT as string, key, subject)
  await until('mail delivered', async () => (await subjects(env.SANDBOX_HTTP_PORT as string)).length === SENT, 30_000)
  const hold = ['packages/cli/src/postrider.ts', 'account', 'hold', '1', '--reason', 'moving']
  execFileSync(process.execPath, hold, { cwd: root, env: { ...process.env, ...env }, stdio: 'ignore' })
  for (const subject of numbered('waits', WAITING)) await send(env.API_PORT as string, key, subject)
  t.equal(await old.end('SIGTERM'), 0)
  return { data, key }
}

/** Everything that the old version had accepted is there: what it had delivered is not sent again, and the rest is sent now. */
async function nothingLost(
  t: Test,
  env: Readonly<Record<string, string>>,
  { key, postrider }: { readonly key: string; readonly postrider: (args: string) => Promise<string> },
): Promise<void> {
  await isReady(t, env.API_PORT)
  const inbox = () => subjects(env.SANDBOX_HTTP_PORT as string)
  const listed = JSON.parse(await postrider('message list --account 1 --limit 200 --json'))
  t.equal(listed.deliveries.length, SENT + WAITING)
  t.strictSame(
    (await inbox()).filter((subject) => subject.startsWith('waits')),
    [],
    'the account is still held',
  )
  await postrider('account release 1')
  const all = [...numbered('sent', SENT), ...numbered('waits', WAITING)].sort()
  const arrived = (await inbox()).some((subject) => subject.startsWith('sent'))
    ? all
    : all.filter((one) => one.startsWith('waits'))
  await until('the mail that waited', async () => (await inbox()).length >= arrived.length, 60_000)
  t.strictSame(await inbox(), arrived, 'each once')
  await send(env.API_PORT as string, key, 'after the move')
  await until('mail sent since', async () => (await inbox()).includes('after the move'), 30_000)
}

t.test('a checkout of an old version moves to the packages', { timeout: 1_500_000, skip }, async (t) => {
  const old = await runOld(t)
  await t.test('the Debian package', async (t) => {
    const bare = startBare(t, 'trixie', 'none')
    deliver(bare, 'root', '/root')
    copy(old.data, join(bare.folder, 'root/old'))
    const env = await settings()
    const lines = Object.entries({ ...env, DELIVERY: 'sandbox' }).map(([name, value]) => `${name}=${value}\n`)
    writeFileSync(join(bare.folder, 'root/postrider.env'), lines.join(''))
    const shell = bare.shell('root', '/root', {})
    await follow(t, `${UPGRADING}, 1`, { bare, shell, placeholders: { DATA: '/root/old' } })
    await nothingLost(t, env, { ...old, postrider: async (args) => (await shell.type(`postrider ${args}`)).output })
  })
  await t.test('the npm package', async (t) => {
    const bare = startBare(t, 'trixie', 'debian')
    deliver(bare, 'lena', '/home/lena')
    copy(old.data, join(bare.folder, 'home/lena/old'))
    execFileSync('chroot', [bare.folder, 'chown', '-R', 'lena:lena', '/home/lena/old'])
    const env = await settings()
    const shell = bare.shell('lena', '/home/lena', env)
    await follow(t, `${UPGRADING}, 2`, { bare, shell, placeholders: { 'DATA ': 'old ' } })
    await nothingLost(t, env, { ...old, postrider: async (args) => (await shell.type(`npx postrider ${args}`)).output })
  })
})
