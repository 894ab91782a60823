import { randomBytes, randomUUIDv7 } from 'node:crypto'
import { postmasterOf } from '../packages/cli/src/embedded-postgres/postmaster.ts'
import { withDatabase } from './database.ts'
import { smtpSource } from './harness/load.ts'
import { makeMessage } from './harness/messages.ts'
import { startPostfix } from './harness/postfix.ts'
import { freePort, start, stopAll } from './harness/processes.ts'
import { ProcessorTime, type Roots } from './harness/processor.ts'
import { format, median } from './harness/rounds.ts'

/**
 * What an accept over SMTP takes at least on what the service is built of, beside Postfix: smtp-server that reads messages and keeps nothing, and
 * Postgres that stores their octets in a table of two columns, in batches as large as those of the relay under this load. Microseconds of
 * processor time per message. `node bench/floor.ts`, as root, in two minutes.
 */
const ROUNDS = 3
const FROM = 'desk@ship.example'
const SETTINGS = [
  { name: '10 kB, 50 sessions, kept', octets: 10_000, sessions: 50, kept: true, messages: 8000 },
  {
    name: '10 kB, 50 sessions, one connection per message',
    octets: 10_000,
    sessions: 50,
    kept: false,
    messages: 4000,
  },
  { name: '100 kB, 10 sessions, kept', octets: 100_000, sessions: 10, kept: true, messages: 2000 },
] as const
/** The octets of a stored body, and messages of a batch (`calls` of bench/cpu.ts). */
const STORED = [
  { name: '10 kB', content: Buffer.from(makeMessage(FROM, 10_000)), batch: 15 },
  { name: '100 kB', content: Buffer.from(makeMessage(FROM, 100_000)), batch: 7 },
  { name: '100 kB with its base64 decoded', content: randomBytes(77_000), batch: 7 },
] as const
const STORE_MS = 4000

const times = new ProcessorTime()

try {
  const port = await freePort()
  const bare = await start(process.execPath, ['bench/load/bare-smtp.ts', String(port)], { ready: /started/ })
  const postfix = await startPostfix({})
  for (const { name, messages, ...load } of SETTINGS) {
    const send = (to: number, roots: Roots, contestant: string) =>
      times.during(`${contestant}, ${name}`, roots, messages, () =>
        smtpSource({ ...load, from: FROM, port: to }, messages),
      )
    await smtpSource({ ...load, from: FROM, port }, messages)
    for (let round = 0; round < ROUNDS; round++) {
      await send(port, [bare.pid], 'smtp-server')
      await send(postfix.port, postfix.roots, 'Postfix')
    }
  }
  await stopAll()
  await withDatabase(1, async (sql) => {
    const [row] = await sql<{ folder: string }[]>`select current_setting('data_directory') as folder`
    const postmaster = postmasterOf(row?.folder ?? '')
    if (!postmaster) throw new Error('the process of the database is not known')
    await sql`create table stored (id uuid primary key, content bytea storage external)`
    const store = async (content: Buffer, batch: number): Promise<number> => {
      const began = performance.now()
      const starts = Array.from({ length: batch }, (_none, at) => at * content.length + 1)
      const contents = Buffer.concat(Array.from({ length: batch }, () => content))
      let messages = 0
      for (; performance.now() - began < STORE_MS; messages += batch) {
        const ids = Array.from({ length: batch }, () => randomUUIDv7())
        await sql`
          insert into stored (id, content)
          select b.id, substring(${contents}::bytea from b.start for ${content.length})
            from unnest(${ids}::uuid[], ${starts}::int[]) as b(id, start)`
      }
      return messages
    }
    for (const { name, content, batch } of STORED) {
      for (let round = 0; round < ROUNDS; round++) {
        await times.during(
          `Postgres, ${name}`,
          [postmaster.pid],
          (messages: number) => messages,
          () => store(content, batch),
        )
      }
    }
  })
} finally {
  await stopAll()
}
for (const [name, rounds] of Object.entries(times.rounds))
  process.stdout.write(`${name}: ${format(median(rounds))} µs\n`)
