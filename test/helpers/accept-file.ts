import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { openDatabase, type Sql } from '@postrider/core'
import { insertMessages } from '../../packages/core/src/messages/insert-messages.ts'
import type { StoredMessage } from '../../packages/core/src/messages/stored-message.ts'
import { onlyRow } from '../../packages/core/src/platform/database/database.ts'
import { makeWholeDatabase } from './database.ts'
import { withPostgres } from './postgres-server.ts'
import { recordStatements, type Statement } from './statements.ts'

export const ACCEPT_FILE = fileURLToPath(new URL('../../docs/accept.sql', import.meta.url))

const HEADER = `-- The statement that accepts a batch of messages (packages/core/src/messages/insert-messages.ts), as the database gets it.
-- Written by \`npm run docs\`; a test holds it. To be pasted into psql: with "explain (generic_plan)" in place of the first line the
-- database shows its plan (Postgres 16 or newer).
--
-- It is there twice. Most batches are written by the first form. Parts that few messages need, for lists that are bypassed, batches
-- that can be cancelled, opt-outs kept as hashes, recipients with times of their own or with large data, classes and deadlines, and
-- messages that cannot be composed, and bodies in object storage, are in a statement only if a message of the batch needs them: the second form has all of them.
`

const MESSAGE: Omit<StoredMessage, 'id'> = {
  accountId: 1,
  parentId: null,
  domainId: 1,
  apiKeyId: 1,
  door: 'v2',
  scheduledAt: undefined,
  fromAddress: 'desk@ship.example',
  subject: 'Berth 4',
  tags: [],
  settings: {},
  class: 1,
  clientAddress: '192.0.2.9',
  format: 'content',
  size: 1,
  nullReturnPath: false,
  transactionBase: 0n,
  idempotencyKey: undefined,
  fingerprint: undefined,
  batchId: undefined,
  refusal: undefined,
  refusalProblem: undefined,
  parts: [],
  deliveries: [
    {
      recipientNo: 0,
      recipient: 'lena@harbor.example',
      key: 'lena@harbor.example',
      domain: 'harbor.example',
      kind: 'to',
      reference: undefined,
      personal: null,
    },
  ],
}

/** The file, as the database at `url`, which has been migrated, gets the statement. */
export async function acceptFile(url: string): Promise<string> {
  const ends: (() => unknown)[] = []
  const recorder = await recordStatements({ teardown: (end: () => unknown) => void ends.unshift(end) }, url)
  const sql = openDatabase({ url: recorder.url, name: 'accept file', connections: 1 })
  ends.unshift(() => sql.end({ timeout: 1 }))
  try {
    const [delivery] = MESSAGE.deliveries
    const personal = { envelope: 0, scheduledAt: '2026-11-22T10:00:00Z', attributes: { A: 'a'.repeat(1024 * 1024) } }
    // Of now: the partition of a fixed id is there for some weeks only.
    const { id } = onlyRow(await sql<{ id: string }[]>`select uuidv7() as id`)
    const message: StoredMessage = { ...MESSAGE, id }
    const everything: StoredMessage = {
      ...message,
      settings: { bypass: ['unsubscribe'], deadline: 600 },
      lowered: true,
      batchId: 'morning',
      refusal: 'template',
      parts: [{ encoding: 'raw', pieces: [Buffer.alloc(32)], length: 32, objectLength: 100_000 }],
      deliveries: delivery ? [{ ...delivery, personal }] : [],
    }
    const ordinary = await statementOf(sql, recorder, message, undefined)
    const whole = await statementOf(sql, recorder, everything, ['00'])
    return [HEADER, prepared('accept_messages', ordinary), prepared('accept_any_messages', whole)].join('\n')
  } finally {
    for (const end of ends) await end()
  }
}

async function statementOf(
  sql: Sql,
  recorder: { statements(): Statement[]; clear(): void },
  message: StoredMessage,
  hashes: string[] | undefined,
): Promise<Statement> {
  recorder.clear()
  const undone = new Error('only the statement is wanted')
  await sql
    .begin(async (transaction) => {
      await insertMessages(transaction, [message], { withBodies: true, hashes })
      throw undone
    })
    .catch((error) => {
      if (error !== undone) throw error
    })
  const found = recorder.statements().find(({ text }) => text.includes('insert into messages'))
  if (!found) throw new Error('the accept statement was not sent')
  return found
}

function prepared(name: string, { text }: Statement): string {
  // Parts that are left out leave blanks behind.
  const lines = text
    .split('\n')
    .flatMap((line) => (line.trim() === '' ? [] : [line.trimEnd().replace(/(\S) {2,}/g, '$1 ')]))
  return `prepare ${name} as\n${lines.join('\n').trim()};\n`
}

if (import.meta.main) {
  await withPostgres(async ({ url }) => {
    const database = await makeWholeDatabase(url)
    writeFileSync(ACCEPT_FILE, await acceptFile(database.url))
    await database.drop()
  })
}
