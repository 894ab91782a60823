import { createCore, createLog, readConfig } from '@postrider/core'
import { claimDue } from '../test/helpers/claim.ts'
import { withDatabase } from './database.ts'

/** Prints the octets a row of each hot table takes, with its indexes, as the table in sql/README.md. */
const MESSAGES = 50_000
const LANES = 200

await withDatabase(4, async (sql, url) => {
  const config = readConfig({ DATABASE_URL: url, SECRET_KEY: 'x'.repeat(32), DATA_DIR: '/tmp' })
  const core = createCore({ sql, config, log: createLog('bench', 'silent') })
  await core.readiness.check()
  const account = await core.accounts.create('bench')
  // As before mail was tracked, to compare with.
  await sql`update accounts set open_tracking = false, click_tracking = false, generate_text = false where id = ${account.id}`
  const { secret } = await core.auth.createKey({ accountId: account.id })
  await core.domains.add({ accountId: account.id, name: 'ship.example', state: 'active' })
  const principal = await core.auth.authenticate(secret, '127.0.0.1')
  const html = `<p>${'Your berth is ready. '.repeat(90)}</p>`

  let next = 0
  const lane = async (): Promise<void> => {
    for (let number = next++; number < MESSAGES; number = next++) {
      await core.messages.accept({
        door: 'v2',
        principal,
        clientAddress: '127.0.0.1',
        from: { email: 'desk@ship.example', name: 'Ship Desk' },
        subject: `Berth ${number}`,
        replyTo: undefined,
        content: { kind: 'parts', html, text: undefined, amp: undefined },
        templateId: undefined,
        attachmentIds: [],
        attachments: [],
        envelopes: [
          {
            to: [`someone.${number}@harbor${number % 100}.example`],
            cc: [],
            bcc: [],
            reference: `order-${number}`,
            referenceCc: undefined,
            attributes: {},
            headers: {},
            attachments: [],
          },
        ],
        tags: ['berth'],
        settings: {},
        scheduledAt: undefined,
        idempotencyKey: undefined,
        fingerprint: undefined,
        nameOf: (field) => field,
      })
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  await deliverAll(MESSAGES)
  const rows = await sql<{ table: string; heap: number; indexes: number }[]>`
    select parent as table, sum(pg_table_size(oid))::float8 / ${MESSAGES} as heap, sum(pg_indexes_size(oid))::float8 / ${MESSAGES} as indexes
      from (select regexp_replace(relname, '_\\d{4}w\\d\\d$', '') as parent, oid from pg_class
             where relkind = 'r' and relnamespace = 'public'::regnamespace) t
     where parent in ('messages', 'bodies', 'finished_deliveries', 'attempts', 'events')
     group by parent order by parent`
  process.stdout.write('| table | octets a row | of its indexes |\n|---|---|---|\n')
  for (const { table, heap, indexes } of rows) {
    // Two events a message: processed and sent.
    const each = table === 'events' ? 2 : 1
    process.stdout.write(`| ${table} | ${Math.round(heap / each)} | ${Math.round(indexes / each)} |\n`)
  }
  core.readiness.close()

  async function deliverAll(count: number): Promise<void> {
    const { workerId } = await core.deliveries.register({ host: 'bench', pid: process.pid })
    for (let done = 0; done < count; ) {
      const claimed = await claimDue(core, { workerId, limit: 500 })
      const reply = { code: 250, enhanced: '2.0.0', text: 'Ok: queued as 4F2A1B3C5D' }
      const steps = ['mail', 'rcpt', 'data', 'dot'].map((step) => ({
        step,
        ms: 1.2,
        code: 250,
        enhanced: '2.1.0',
        text: 'ok',
      }))
      await core.deliveries.record(
        claimed.map(({ messageId, recipientNo, attempt }) => ({
          messageId,
          recipientNo,
          attempt,
          workerId,
          outcome: {
            kind: 'delivered',
            stage: 'dot',
            reply,
            host: 'mx1.harbor.example',
            address: '192.0.2.1',
            tls: 'TLSv1.3',
            steps,
            milliseconds: 90,
          },
        })),
      )
      done += claimed.length
    }
  }
})
