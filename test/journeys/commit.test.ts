import t from 'tap'
import { startProcess } from '../helpers/processes.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { makeService } from '../helpers/service.ts'
import { SmtpClient } from '../helpers/smtp-client.ts'
import { until } from '../helpers/until.ts'

t.test('HTTP and SMTP answer only after the commit: while it cannot happen, nothing is acknowledged', async (t) => {
  const service = await makeService(t)
  const { apiKey, domain } = await service.makeSender()
  for (const name of ['api', 'relay'] as const) await startProcess(t, name, service.env)
  const base = `http://127.0.0.1:${service.config.apiPort}`
  const from = `desk@${domain}`
  const client = await SmtpClient.connect(t, { port: service.config.relayTlsPort, tls: true })
  await client.reply()
  await client.logIn(apiKey)
  const body = v2Body({ accountId: 0, accountName: '', apiKey, domain })
  const mail = `From: ${from}\r\nSubject: Berth 4\r\n\r\nReady.\r\n`
  // Once without hindrance, so that what is asked for the first time only is known.
  t.equal((await sendV2(base, apiKey, body)).status, 200)
  t.match(await client.submit(from, 'lena@harbor.example', mail), /^250/)

  // Statements on the queue wait for this transaction, and so does the commit of every accept.
  const answered: string[] = []
  const answers: Promise<unknown>[] = []
  await service.sql.begin(async (sql) => {
    await sql`lock table delivery_queue in share mode`
    answers.push(
      sendV2(base, apiKey, body).then(({ status }) => answered.push(`HTTP ${status}`)),
      client.submit(from, 'lena@harbor.example', mail).then((reply) => answered.push(`SMTP ${reply.slice(0, 3)}`)),
    )
    await until('both doors to wait for the commit', async () => {
      const waiting = await sql`
        select 1 from pg_locks where not granted and relation = 'delivery_queue'::regclass
           and database = (select oid from pg_database where datname = current_database())`
      return answered.length > 0 || waiting.length === 2
    })
    await new Promise((resolve) => setTimeout(resolve, 300))
    t.strictSame(answered, [])
  })
  await Promise.all(answers)
  t.strictSame(answered.sort(), ['HTTP 200', 'SMTP 250'])
  const [stored] = await service.sql<{ count: number }[]>`select count(*)::int as count from messages`
  t.equal(stored?.count, 4)
})
