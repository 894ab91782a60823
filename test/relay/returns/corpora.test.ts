import { readFileSync } from 'node:fs'
import t from 'tap'
import { isHardBounce } from '../../../packages/core/src/reporting/events/texts.ts'
import { startOutbox } from '../../delivery/outbox.ts'
import { corpusPath, skipWithoutCorpora } from '../../helpers/corpora.ts'
import { sendV2, v2Body } from '../../helpers/send.ts'
import { startSink } from '../../helpers/sink.ts'
import { SmtpClient } from '../../helpers/smtp-client.ts'
import { until } from '../../helpers/until.ts'

/** Who is right about these is a matter of opinion: they count neither as right nor as wrong. */
const DISPUTED: ReadonlySet<string> = new Set(['filtered', 'suspend'])

interface Expected {
  readonly reason: string
  readonly hard: boolean
}

t.test(
  'reports of real servers, mailed to the return paths of delivered mail, have the right effects',
  skipWithoutCorpora,
  async (t) => {
    const sink = await startSink(t)
    const { service, sender } = await startOutbox(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
    await service.openReturns()
    const all = JSON.parse(readFileSync(corpusPath('bounces/expected.json'), 'utf8')) as Record<string, Expected[]>
    // Reports on several recipients have no place here: a delivery has one.
    const files = Object.entries(all).flatMap(([file, [expected, ...others]]) =>
      expected && others.length === 0 && !DISPUTED.has(expected.reason) && expected.reason !== 'feedback'
        ? [{ file, expected }]
        : [],
    )
    const personalizations = files.map((_, at) => ({ recipient: `r${at}@harbor.example` }))
    const { body } = await sendV2(
      `http://127.0.0.1:${service.config.apiPort}`,
      sender.apiKey,
      v2Body(sender, { personalizations }),
    )
    const messageId = body.data?.message_id as string
    await until('all to be delivered', async () => {
      const [row] = await service.sql`select count(*)::int as count from finished_deliveries where state = 'delivered'`
      return row?.count === files.length
    })

    const replies = new Map<string, number>()
    let client: SmtpClient | undefined
    for (const [at, { file }] of files.entries()) {
      // The server ends a session after 50 messages.
      if (at % 40 === 0) {
        client = await SmtpClient.connect(t, { port: service.config.returnsPort })
        await client.reply()
        await client.command('EHLO mx.harbor.example')
      }
      const to = `${service.core.deliveries.returnPath({ messageId, recipientNo: at }, Date.now())}@relay.test`
      const raw = readFileSync(corpusPath(`bounces/${file}`), 'latin1').replace(/\r?\n/g, '\r\n')
      const code = (await client?.submit('', to, Buffer.from(raw, 'latin1')))?.slice(0, 3) ?? ''
      replies.set(code, (replies.get(code) ?? 0) + 1)
    }
    t.strictSame([...replies.keys()], ['250'])

    const events = await service.sql<{ no: number; class: string }[]>`
    select recipient_no as no, detail->>'class' as class from events where type = 'bounced'`
    const classes = new Map(events.map(({ no, class: of }) => [no, of]))
    const wrong = files.flatMap(({ file, expected }, at) => {
      const found = classes.get(at)
      // From a delay, or a delivery after all, nothing follows.
      const isRight = isHardBounce(found) === expected.hard
      return isRight ? [] : [`${file}: ${expected.reason}: ${found ?? 'no event'}`]
    })
    const right = (100 * (files.length - wrong.length)) / files.length
    t.comment(`figures: ${right.toFixed(2)} % of ${files.length} reports have the right effect`)
    t.comment(wrong.join('\n'))
    t.ok(files.length > 200, `${files.length} reports`)
    t.ok(right >= 97, `${right} %`)
    t.ok(events.length >= files.length - 10, `${events.length} events`)
  },
)
