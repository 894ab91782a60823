import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { embeddedUrlFile, openDatabase } from '@postrider/core'
import t from 'tap'
import { makeDatabase } from '../helpers/database.ts'
import { startReceiver } from '../helpers/receiver.ts'
import { until } from '../helpers/until.ts'
import {
  answered,
  apiReady,
  commandLine,
  descendantsOf,
  type Installation,
  isAlive,
  KEY,
  postrider,
  upSettings as settings,
  shell,
  startUp,
} from './postrider.ts'

interface Entry {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly subject: string
}

/** The line under the heading that starts with these words. */
function lineUnder(text: string, heading: string): string {
  const lines = text.split('\n')
  return lines[lines.findIndex((line) => line.startsWith(heading)) + 1]?.trim() as string
}

const inbox = async (env: Record<string, string>): Promise<Entry[]> =>
  (await fetch(`http://127.0.0.1:${env.SANDBOX_HTTP_PORT}/messages`)).json() as Promise<Entry[]>

/** Ends it with a signal; answers its exit status and what is left of its processes. */
async function end(installation: Installation, signal: NodeJS.Signals): Promise<unknown> {
  const pids = descendantsOf(installation.pid)
  const status = await installation.end(signal)
  return { status, processes: pids.length > 3, left: pids.filter(isAlive).map(commandLine) }
}
const GONE = { status: 0, processes: true, left: [] }

const skip = process.platform !== 'linux' && 'processes are looked up in /proc'

t.test('postrider up on one machine, with a database of its own', { skip }, async (t) => {
  const given = await settings()
  const env: Record<string, string> & { DATA_DIR: string } = {
    ...given,
    DATA_DIR: join(String(given.DATA_DIR), 'data'),
  }
  let key = ''

  await t.test('the first start prints the key once, and lines that work when pasted', async (t) => {
    const first = await startUp(t, env)
    t.equal(first.stderr, '')
    key = KEY.exec(first.stdout)?.[0] as string
    t.equal(first.stdout.match(/shown once/g)?.length, 1)

    const sent = await shell(lineUnder(first.stdout, 'Send a message over HTTP'))
    t.match(JSON.parse(sent.stdout), { data: { message_id: /^[0-9a-f]{32}$/ }, error_info: null })
    const bySmtp = lineUnder(first.stdout, 'Send a message over SMTP')
    t.match(bySmtp, / curl -s --cacert '\/[^']+\/certificate\.pem' --ssl-reqd smtp:/, 'it checks the certificate')
    t.equal((await shell(bySmtp)).code, 0)

    const look = lineUnder(first.stdout, 'List delivered messages')
    const arrived = await until('two messages', async () => {
      const entries = JSON.parse((await shell(look)).stdout) as Entry[]
      return entries.length === 2 && entries
    })
    t.strictSame(arrived.map(({ subject }) => subject).sort(), ['By SMTP', 'My first message'])
    t.match(arrived[0], { from: /@/, to: 'you@example.org', id: /^[0-9a-f]{32}$/ })
    t.strictSame(await inbox(env), arrived)
    t.strictSame(
      await answered(env, 'inbox', 'list'),
      arrived.toReversed(),
      'the command shows what HTTP shows, newest first',
    )

    await t.test('its commands allow what its processes do: a webhook on this machine', async (t) => {
      const receiver = await startReceiver(t)
      const made = await postrider(
        env,
        'webhook',
        'create',
        '--account',
        '1',
        '--events',
        'sent',
        '--url',
        receiver.url,
      )
      t.match(made, { code: 0, stderr: '' })
    })

    await t.test('the folder of its data is for its owner alone', async (t) => {
      t.equal(statSync(env.DATA_DIR).mode & 0o777, 0o700)
    })

    await t.test('the log of the database is for its owner alone, and quotes no row', async (t) => {
      const sql = openDatabase({
        url: readFileSync(embeddedUrlFile(env.DATA_DIR), 'utf8').trim(),
        name: 'test',
        connections: 1,
      })
      t.teardown(() => sql.end())
      await t.rejects(sql`insert into accounts (name) select 'a name of somebody' from generate_series(1, 2)`)
      const log = join(env.DATA_DIR, 'postgres.log')
      t.equal(statSync(log).mode & 0o777, 0o600)
      t.match(readFileSync(log, 'utf8'), /duplicate key/)
      t.notMatch(readFileSync(log, 'utf8'), /already exists/, 'the detail of the error')
    })

    await t.test('SIGTERM ends it with status 0 and leaves no process', async (t) => {
      t.strictSame(await end(first, 'SIGTERM'), GONE)
      t.match(first.stdout, /\nstopped\n$/)
      t.equal(first.stderr, '')
      t.notOk(existsSync(join(env.DATA_DIR, 'postgres', 'postmaster.pid')))
    })
  })

  await t.test('the second start prints no key, and has all data of the first', async (t) => {
    chmodSync(env.DATA_DIR, 0o755)
    const second = await startUp(t, env)
    t.notMatch(second.stdout, KEY)
    t.match(second.stdout, `other users of this host can list DATA_DIR (${env.DATA_DIR}, mode 0755): run chmod 700`)
    t.equal((await inbox(env)).length, 2)
    t.equal((await answered<unknown[]>(env, 'account', 'list')).length, 1)
    const answer = await fetch(`http://127.0.0.1:${env.API_PORT}/v2/sendEmail`, {
      method: 'POST',
      headers: { api_key: key, 'content-type': 'application/json' },
      body: JSON.stringify({
        personalizations: [{ recipient: 'again@example.org' }],
        from: { fromEmail: 'hello@demo.example' },
        subject: 'Again',
        content: 'x',
      }),
    })
    t.equal(answer.status, 200, 'the key of the first start is good')
    await until('the third message', async () => (await inbox(env)).length === 3)

    await t.test('a process killed with kill -9 is started again, and so is the database', async (t) => {
      const pidOf = (what: string): number | undefined =>
        descendantsOf(second.pid).find((pid) => commandLine(pid).includes(what) && isAlive(pid))
      for (const what of ['packages/api/src/server.ts', 'packages/delivery/src/worker.ts', 'bin/postgres -D']) {
        const before = pidOf(what) as number
        process.kill(before, 'SIGKILL')
        await until(`another ${what}`, () => {
          const now = pidOf(what)
          return now !== undefined && now !== before
        })
      }
      await until('the API to be ready', () => apiReady(env), 30_000)
      t.match(second.stdout, /^api ended \(SIGKILL\); restarting it$/m)
      t.match(second.stdout, /^delivery ended \(SIGKILL\); restarting it$/m)
      t.match(second.stdout, /^the embedded database died; restarting it$/m)
    })

    await t.test('SIGINT ends it with status 0 and leaves no process', async (t) => {
      t.strictSame(await end(second, 'SIGINT'), GONE)
    })
  })
})

t.test('two installations run side by side, one on a database of its own, one on DATABASE_URL', { skip }, async (t) => {
  const database = await makeDatabase()
  t.teardown(() => database.drop())
  const [own, given] = await Promise.all([settings(), settings({ DATABASE_URL: database.url })])
  const [embedded, external] = await Promise.all([startUp(t, own), startUp(t, given)])
  t.notOk(existsSync(join(given.DATA_DIR as string, 'postgres')), 'no database is made where one is given')
  t.not(KEY.exec(embedded.stdout)?.[0], KEY.exec(external.stdout)?.[0])

  t.match((await shell(lineUnder(external.stdout, 'Send a message over HTTP'))).stdout, /message_id/)
  await until('the message', async () => (await inbox(given)).length === 1)
  t.equal((await inbox(own)).length, 0, 'the other one has nothing of it')

  await t.test('a taken port ends a third one with the name of the setting; the others go on', async (t) => {
    const third = await settings()
    for (const setting of ['API_PORT', 'RELAY_PORT', 'SANDBOX_HTTP_PORT']) {
      const taken = own[setting] as string
      const failed = await startUp(t, { ...third, [setting]: taken })
      t.equal(await failed.exited, 78)
      t.match(failed.stderr, new RegExp(`port ${taken} is in use.* set ${setting} `))
      t.notMatch(failed.stderr, /^ +at /m)
      t.notMatch(failed.stdout, KEY)
    }
    const both = { API_PORT: own.API_PORT as string, SANDBOX_SMTP_PORT: own.SANDBOX_SMTP_PORT as string }
    const failed = await startUp(t, { ...third, ...both })
    for (const [setting, port] of Object.entries(both))
      t.match(failed.stderr, new RegExp(`^postrider: port ${port} is in use.* set ${setting} `, 'm'), 'all at once')
    const repaired = await startUp(t, third)
    t.match(repaired.stdout, KEY, 'the key was not lost with the failed starts')
    t.strictSame(await end(repaired, 'SIGTERM'), GONE)
    t.ok((await apiReady(own)) && (await apiReady(given)))
  })

  await t.test('the end of the supervisor by kill -9 is the end of all', async (t) => {
    const pids = descendantsOf(embedded.pid)
    await embedded.end('SIGKILL')
    await until('the processes to end', () => !pids.some(isAlive), 30_000)
    t.ok(await apiReady(given))
  })

  t.strictSame(await end(external, 'SIGTERM'), GONE)
  t.equal(external.stderr, '')
})
