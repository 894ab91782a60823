import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { until } from '../helpers/until.ts'
import {
  answered,
  apiReady,
  begin,
  beginUp,
  commandLine,
  descendantsOf,
  type Installation,
  isAlive,
  KEY,
  killGroup,
  postriderProcess,
  startUp,
  upSettings,
} from './postrider.ts'

const skip = process.platform !== 'linux' && 'processes are looked up in /proc'

/** A part of the embedded Postgres, by its title. */
const postgresProcess = ({ pid }: Installation, title: string): number =>
  descendantsOf(pid).find((one) => commandLine(one).includes(title)) as number

async function ends(t: Test, installation: Installation): Promise<void> {
  t.equal(await installation.end('SIGTERM'), 0)
  t.equal(installation.stderr, '')
}

t.test('postrider up on data that something else has, or had', { skip }, async (all) => {
  const env = await upSettings()
  const first = await startUp(all, env)
  let latest = first
  all.match(first.stdout, KEY)

  await all.test('a second one says that there is a first one and ends, and the first goes on', async (t) => {
    const second = await startUp(t, { ...(await upSettings()), DATA_DIR: env.DATA_DIR as string })
    t.equal(await second.exited, 1)
    t.match(second.stderr, new RegExp(`^postrider: .* as process ${first.pid};.*DATA_DIR`))
    t.equal(second.stderr.split('\n').length, 2, 'one sentence')
    t.ok(await apiReady(env))
    t.equal((await answered<unknown[]>(env, 'account', 'list')).length, 1, 'commands work on the first')
  })

  await all.test('right after kill -9 of all it waits for the dying database, and starts its own', async (t) => {
    // Without its checkpointer a server can't finish its shutdown.
    const checkpointer = postgresProcess(first, 'checkpointer')
    const postmaster = postgresProcess(first, 'bin/postgres -D')
    process.kill(checkpointer, 'SIGSTOP')
    t.teardown(() => isAlive(checkpointer) && process.kill(checkpointer, 'SIGCONT'))
    await killGroup(first)
    latest = beginUp(all, env)
    await until('it to say what it waits for', () => latest.stdout.includes('is still stopping'), 60_000)
    t.ok(isAlive(postmaster))
    process.kill(checkpointer, 'SIGCONT')
    await until('everything to run', () => latest.stdout.includes('Running.'), 60_000)
    t.notOk(isAlive(postmaster))
    t.notMatch(latest.stdout, KEY, 'it is the same database')
    t.ok(await apiReady(env))
  })

  await all.test('it starts the database again when that was killed with the rest', async (t) => {
    const postmaster = postgresProcess(latest, 'bin/postgres -D')
    process.kill(-latest.pid, 'SIGKILL')
    process.kill(postmaster, 'SIGKILL')
    await latest.exited
    latest = await startUp(all, env)
    t.match(latest.stdout, 'Running.')
    t.ok(await apiReady(env))
    await ends(t, latest)
  })

  await all.test(
    'a lock that a full disk left empty stops no start, nor does one of a process long gone',
    async (t) => {
      for (const left of ['', '1', `${process.pid} 0 up\n`]) {
        writeFileSync(join(env.DATA_DIR as string, 'postgres.lock'), left)
        t.equal((await answered<unknown[]>(env, 'account', 'list')).length, 1, JSON.stringify(left))
        t.strictSame(
          readdirSync(env.DATA_DIR as string).filter((name) => name.startsWith('postgres.lock')),
          [],
        )
      }
    },
  )

  await all.test(
    'a key or password that a power cut left empty is told in a sentence, and stops nothing later',
    async (t) => {
      for (const [name, status] of [
        ['postgres-password', 78],
        ['secret-key', 78],
      ] as const) {
        const file = join(env.DATA_DIR as string, name)
        const kept = readFileSync(file)
        writeFileSync(file, '')
        const { code, stderr } = await postriderProcess(env, 'account', 'list')
        t.equal(code, status, name)
        t.match(stderr, new RegExp(`^postrider: .*/${name} is empty: restore it from a backup`))
        t.equal(stderr.split('\n').length, 2, 'one sentence')
        writeFileSync(file, kept)
      }
      t.equal((await answered<unknown[]>(env, 'account', 'list')).length, 1)
    },
  )

  await all.test('while a command uses the database it waits for that, and outlives it', async (t) => {
    // A source that answers when we like: the command has the database until then. A refused key ends it, and is not tried again.
    const waiting: ServerResponse[] = []
    const source = createServer((_request, response) => void waiting.push(response))
    await new Promise<void>((resolve) => source.listen(0, '127.0.0.1', resolve))
    t.teardown(() => source.closeAllConnections())
    t.teardown(() => source.close())
    const url = `http://127.0.0.1:${(source.address() as AddressInfo).port}`
    const command = begin(env, ['import', 'sendgrid', '--account', '1', '--key', 'k', '--url', url, '--yes'])
    await once(source, 'request', { signal: AbortSignal.timeout(60_000) })

    latest = beginUp(all, env)
    const says = /waiting for process \d+|Running\./
    await until('it to say that it waits, or to run', () => says.test(latest.stdout), 60_000)
    t.notMatch(latest.stdout, 'Running.')
    for (const response of waiting) response.writeHead(401, { connection: 'close' }).end('{}')
    t.match(await command.ended, { code: 1 })
    await until('everything to run', () => latest.stdout.includes('Running.'), 60_000)
    t.ok(await apiReady(env))
    await ends(t, latest)
  })
})
