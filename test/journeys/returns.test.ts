import t from 'tap'
import { startOutboxProcess } from '../delivery/outbox.ts'
import { bounceReport } from '../delivery/reports.ts'
import { keep } from '../helpers/keeper.ts'
import { startProcess } from '../helpers/processes.ts'
import { startSink } from '../helpers/sink.ts'
import { SmtpClient } from '../helpers/smtp-client.ts'
import { until } from '../helpers/until.ts'

/** A hundred with `npm run test:faults`. */
const KILLS = process.env.FAULT_SECONDS === undefined ? 4 : 100
const REPORTS_PER_KILL = 10

t.test(
  'kill -9 of the process that receives reports loses none that got 250, and none counts twice',
  { timeout: KILLS * 10_000 + 120_000 },
  async (t) => {
    const paths = new Map<string, string>()
    const sink = await startSink(t, {
      dot({ message: { to, from } }) {
        paths.set(to[0] ?? '', from ?? '')
        return undefined
      },
    })
    const { service, send } = await startOutboxProcess(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
    const recipients = Array.from({ length: KILLS * REPORTS_PER_KILL }, (_, at) => `lena${at}@harbor.example`)
    for (const to of recipients) await send(to)
    await until('all to be delivered', async () => {
      const [row] = await service.sql`select count(*)::int as count from finished_deliveries where state = 'delivered'`
      return row?.count === recipients.length
    })
    const receiver = await keep(t, 'returns', service.env)

    const answered = new Set<string>()
    let stopped = false
    const mailAll = async (own: readonly string[]): Promise<void> => {
      for (const to of own) {
        const path = paths.get(to) ?? ''
        // As a mail server does: until it has a 250.
        while (!stopped && !answered.has(to)) {
          const reply = await mail(path).catch(() => '')
          if (reply.startsWith('250')) answered.add(to)
          else await new Promise((resolve) => setTimeout(resolve, 50))
        }
      }
    }
    const mail = async (path: string): Promise<string> => {
      const client = await SmtpClient.connect(t, { port: service.config.returnsPort })
      try {
        await client.reply()
        await client.command('EHLO mx.harbor.example')
        return await client.submit('', path, bounceReport(path))
      } finally {
        client.destroy()
      }
    }
    const mailing = Promise.all([0, 1, 2, 3].map((part) => mailAll(recipients.filter((_, at) => at % 4 === part))))
    for (let kill = 1; kill <= KILLS; kill++) {
      const enough = Math.min(kill * REPORTS_PER_KILL - Math.floor(Math.random() * REPORTS_PER_KILL), recipients.length)
      await until('more reports to be answered', () => answered.size >= enough, 30_000)
      receiver.kill()
    }
    await mailing
    stopped = true

    const rows = await service.sql<{ recipient: string; count: number }[]>`
      select f.recipient, count(*)::int as count
        from events e join finished_deliveries f using (message_id, recipient_no)
       where e.type = 'bounced' group by f.recipient`
    const counts = new Map(rows.map(({ recipient, count }) => [recipient, count]))
    t.comment(`figures: ${KILLS} kills, ${answered.size} answered with 250`)
    t.strictSame(
      [...answered].filter((to) => !counts.has(to)),
      [],
      'none is lost',
    )
    t.strictSame(
      [...counts].filter(([, count]) => count !== 1),
      [],
      'none counts twice',
    )
    await receiver.stop()
  },
)

t.test('in the sandbox the whole circle is seen: reports come back by SMTP and have their effects', async (t) => {
  const outbox = await startOutboxProcess(t, { DELIVERY: 'sandbox', RETURN_PATH_HOST: 'bounces.test' })
  const { service, sender, send } = outbox
  await startProcess(t, 'sandbox', service.env)
  await startProcess(t, 'returns', service.env)
  const lastEvent = async (id: string) => (await outbox.story(id)).events.at(-1)
  const [late, full, complaint, away] = [
    await send('late-bounce@harbor.example'),
    await send('mailbox-full@harbor.example'),
    await send('complain@harbor.example'),
    await send('vacation@harbor.example'),
  ]
  await until('all reports', async () => (await service.core.returns.list({ limit: 10 })).length === 4, 30_000)
  t.match(await lastEvent(late), { type: 'bounced', detail: { late: true, class: 'bad-mailbox' } })
  t.match(await lastEvent(full), { type: 'bounced', detail: { late: true, class: 'mailbox-full' } })
  // These may be taken before the worker has noted the delivery.
  await outbox.inState(complaint, 'delivered')
  await outbox.inState(away, 'delivered')
  const typesOf = async (id: string) => (await outbox.story(id)).events.map(({ type }) => type).sort()
  t.strictSame(await typesOf(complaint), ['complained', 'processed', 'sent'])
  t.strictSame(await typesOf(away), ['processed', 'sent'])
  const reasons = async (to: string) =>
    (await service.core.suppressions.holding(sender.accountId, to)).map(({ reason }) => reason)
  t.strictSame(await reasons('late-bounce@harbor.example'), ['hardbounce'])
  t.strictSame(await reasons('mailbox-full@harbor.example'), [])
  t.strictSame(await reasons('complain@harbor.example'), ['abuse'])
  t.match(await service.core.returns.feedback(), [{ reporter: 'sandbox.test', complaints: 1, unmatched: 0 }])
})
