import { existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Marks } from '../../packages/sandbox/src/marks.ts'
import { until } from '../helpers/until.ts'
import { mail, newDataDir, startSandbox } from './sandbox.ts'

const MOST = 10_000

const id = (number: number): string => number.toString(16).padStart(32, '0')

function entry(number: number): string {
  const receivedAt = new Date(number).toISOString()
  return JSON.stringify({ id: id(number), from: 'a@b.example', to: 'c@d.example', subject: `no ${number}`, receivedAt })
}

t.test(
  'kill -9 in the middle of storing leaves every listed message whole, and every acknowledged one listed',
  async (t) => {
    const dataDir = newDataDir()
    const message = mail('Subject: Whole', `${'x'.repeat(78)}\r\n`.repeat(2000))
    const acknowledged: string[] = []
    for (let round = 0; round < 4; round++) {
      const sandbox = await startSandbox(t, dataDir)
      const clients = await Promise.all(Array.from({ length: 15 }, () => sandbox.session(t)))
      await Promise.all(clients.map((client) => client.begin('desk@ship.example', 'lena@harbor.example')))
      const replies = clients.map((client) => client.finish(message))
      // Those after the fifth are in the making when it dies.
      let answered = 0
      for (const reply of replies) void reply.then(() => answered++)
      await until('the fifth answer', () => answered >= 5)
      sandbox.process.kill()
      for (const reply of await Promise.all(replies)) {
        const id = /stored as ([0-9a-f]{32})/.exec(reply)?.[1]
        if (id) acknowledged.push(id)
      }
      await sandbox.process.exited
    }
    t.ok(acknowledged.length >= 4)
    const inbox = join(dataDir, 'inbox')
    writeFileSync(join(inbox, `${id(1)}.eml`), 'half')
    writeFileSync(join(inbox, `${id(2)}.tmp`), '{"half')
    const sandbox = await startSandbox(t, dataDir)
    const listed = await sandbox.list()
    const ids = new Set(listed.map((found) => found.id))
    t.strictSame(
      acknowledged.filter((known) => !ids.has(known)),
      [],
    )
    t.notOk(ids.has(id(1)) || ids.has(id(2)))
    for (const found of listed) {
      t.equal(found.subject, 'Whole')
      t.equal(statSync(join(inbox, `${found.id}.eml`)).size, message.length)
    }
  },
)

t.test('what a sudden death left half done is cleared away at a start, once it is old', async (t) => {
  const dataDir = newDataDir()
  const inbox = join(dataDir, 'inbox')
  mkdirSync(inbox)
  const old = [`${id(1)}.eml`, `${id(2)}.eml`, `${id(2)}.tmp`, `${id(3)}.json`, `${id(4)}.json`]
  for (const name of old) {
    writeFileSync(join(inbox, name), name.endsWith('.json') ? entry(3) : 'half')
    utimesSync(join(inbox, name), 1000, 1000)
  }
  for (const name of [`${id(5)}.eml`, 'notes.json', 'notes.txt']) writeFileSync(join(inbox, name), '{}')
  writeFileSync(join(inbox, `${id(6)}.eml`), mail('Subject: Good'))
  writeFileSync(join(inbox, `${id(6)}.json`), entry(6))
  writeFileSync(join(inbox, `${id(7)}.eml`), mail('Subject: Good'))
  writeFileSync(join(inbox, `${id(7)}.json`), '')
  const sandbox = await startSandbox(t, dataDir)
  t.strictSame(
    (await sandbox.list()).map((found) => found.id),
    [id(6)],
  )
  t.notOk(old.some((name) => existsSync(join(inbox, name))))
  t.ok(existsSync(join(inbox, `${id(5)}.eml`)), 'it may be in the making')
  t.ok(existsSync(join(inbox, 'notes.txt')) && existsSync(join(inbox, 'notes.json')), "it is not the inbox's")
})

t.test('the newest 10,000 messages are kept', async (t) => {
  const dataDir = newDataDir()
  const inbox = join(dataDir, 'inbox')
  mkdirSync(inbox)
  for (let number = 1; number <= MOST + 2; number++) {
    writeFileSync(join(inbox, `${id(number)}.eml`), 'x')
    writeFileSync(join(inbox, `${id(number)}.json`), entry(number))
  }
  const sandbox = await startSandbox(t, dataDir)
  const before = await sandbox.list()
  t.strictSame([before.length, before[0]?.subject], [MOST, 'no 3'])
  const newest = await sandbox.store(t, mail('Subject: Newest'))
  const after = await sandbox.list()
  t.strictSame([after.length, after[0]?.subject, after.at(-1)], [MOST, 'no 4', newest])
  t.equal(readdirSync(inbox).length, 2 * MOST)
})

t.test('marks are kept in memory while they cannot be written, and written with the next change', async (t) => {
  const folder = join(newDataDir(), 'inbox')
  const marks = new Marks(folder)
  marks.setRead('a', true)
  t.doesNotThrow(() => marks.close(), 'the folder is missing')
  mkdirSync(folder, { recursive: true })
  marks.setRead('b', true)
  marks.close()
  t.ok(['a', 'b'].every((message) => new Marks(folder).isRead(message)))
})
