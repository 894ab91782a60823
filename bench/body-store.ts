import { randomBytes } from 'node:crypto'
import { singleMessage } from '@postrider/core'
import { startObjectStorage } from '../test/helpers/object-storage.ts'
import { withPostgres } from '../test/helpers/postgres-server.ts'
import { makeService } from '../test/helpers/service.ts'

/**
 * What a message costs whose body is in a row, and in object storage on loopback: the table of
 * docs/decisions/0032-bodies-in-object-storage.md. Bodies do not shrink; messages are accepted and loaded one after the other.
 */
const SIZES = [16, 32, 64, 128, 256, 1024]
const MESSAGES = 40

const ends: (() => unknown)[] = []
// The part of a test that the helpers use.
const run = { teardown: (end: () => unknown) => void ends.unshift(end) } as unknown as Parameters<typeof makeService>[0]

await withPostgres(async ({ url }) => {
  const storage = await startObjectStorage(run)
  process.stdout.write('body      stored in  accept  of it processor  load    of it processor  write-ahead log\n')
  for (const size of SIZES) {
    for (const [name, settings] of [
      ['row', {}],
      ['object', { ...storage.settings, BODY_STORE_ABOVE_KB: '1' }],
    ] as const)
      process.stdout.write(
        `${`${size} kB`.padEnd(10)}${name.padEnd(11)}${(await measure(url, size * 1024, settings)).join('  ')}\n`,
      )
  }
  for (const end of ends) await end()
})

async function measure(url: string, size: number, settings: Record<string, string>): Promise<string[]> {
  const { core, sql, makeSender } = await makeService(run, settings, url)
  const { apiKey, domain } = await makeSender()
  const principal = await core.auth.authenticate(apiKey, '127.0.0.1')
  const ids: string[] = []
  const accept = async () => {
    const { messageId } = await core.messages.accept({
      ...singleMessage({
        door: 'v2',
        principal,
        clientAddress: '127.0.0.1',
        from: { email: `desk@${domain}`, name: 'Desk' },
        to: 'lena@harbor.example',
      }),
      subject: 'Berth 4',
      content: { kind: 'parts', html: '<p>Photo</p>', text: undefined, amp: undefined },
      attachments: [{ fileName: 'photo.jpg', type: 'image/jpeg', content: randomBytes(size) }],
    })
    ids.push(
      `${messageId.slice(0, 8)}-${messageId.slice(8, 12)}-${messageId.slice(12, 16)}-${messageId.slice(16, 20)}-${messageId.slice(20)}`,
    )
  }
  const load = async () => {
    for (const message of (await core.messages.load([ids.pop() ?? ''])).values())
      if (!message.parts) await core.messages.loadParts(message)
  }
  for (let count = 0; count < 20; count++) await accept()
  const [{ before = '0/0' } = {}] = await sql<{ before: string }[]>`select pg_current_wal_lsn()::text as before`
  const accepted = await timed(accept)
  const [{ wal = 0 } = {}] = await sql<{ wal: number }[]>`
    select (pg_current_wal_lsn() - ${before}::pg_lsn)::float8 as wal`
  const loaded = await timed(load)
  return [...accepted, ...loaded, `${Math.round(wal / MESSAGES / 1000)} kB`]
}

async function timed(fn: () => Promise<void>): Promise<string[]> {
  const began = performance.now()
  const cpu = process.threadCpuUsage()
  for (let count = 0; count < MESSAGES; count++) await fn()
  const used = process.threadCpuUsage(cpu)
  return [
    `${((performance.now() - began) / MESSAGES).toFixed(1)} ms`,
    `${((used.user + used.system) / 1000 / MESSAGES).toFixed(2)} ms`,
  ]
}
