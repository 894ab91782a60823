import { randomBytes } from 'node:crypto'
import { smtpSource } from '../harness/load.ts'
import { makeMessage } from '../harness/messages.ts'
import { startPostfix } from '../harness/postfix.ts'
import { freePort, start } from '../harness/processes.ts'
import { ProcessorTime, type Roots } from '../harness/processor.ts'
import { writeBodies } from '../load/bare-store.ts'
import { type Bare, type Floor, FROM, ROUNDS, withBareTables } from './findings.ts'

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
/**
 * The octets of a stored body, and messages of a batch: about those of the relay, whose have 18 and 5 (`calls` of bench/cpu.ts). Larger ones lower the floor.
 */
const STORED = [
  { name: '10 kB', content: Buffer.from(makeMessage(FROM, 10_000)), batch: 15 },
  { name: '100 kB', content: Buffer.from(makeMessage(FROM, 100_000)), batch: 7 },
  { name: '100 kB with its base64 decoded', content: randomBytes(77_000), batch: 7 },
] as const
const STORE_MS = 4000

/**
 * Accept over SMTP, beside Postfix: smtp-server that reads messages and keeps nothing, and Postgres that stores their octets in a table of two
 * columns, in batches about as large as those of the relay under this load.
 */
export async function accept(): Promise<Floor> {
  const times = new ProcessorTime()
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
  await bare.stop()
  await postfix.stop()
  await withBareTables(async ({ sql, postgres }) => {
    for (const { name, content, batch } of STORED) {
      for (let round = 0; round < ROUNDS; round++) {
        await times.during(
          `Postgres, ${name}`,
          postgres,
          (messages: number) => messages,
          () => store(sql, content, batch),
        )
      }
    }
  })
  return { figures: [{ unit: 'µs', rounds: times.rounds }] }
}

async function store(sql: Bare['sql'], content: Buffer, batch: number): Promise<number> {
  const began = performance.now()
  const message = { content, from: '', to: '', subject: '' }
  const messages = Array.from({ length: batch }, () => message)
  let stored = 0
  for (; performance.now() - began < STORE_MS; stored += batch) await writeBodies(sql, messages)
  return stored
}
