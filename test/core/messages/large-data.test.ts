import t from 'tap'
import { call, messageIdOf } from '../../api/call.ts'
import { v2Body } from '../../helpers/send.ts'
import { makeService } from '../../helpers/service.ts'

const service = await makeService(t)
const base = await service.openApi()
const sender = await service.makeSender()
const send = (extra: Record<string, unknown>) =>
  call(base, { headers: { api_key: sender.apiKey }, body: JSON.stringify(v2Body(sender, extra)) })

/** More than a megabyte: it is not sent to the database with the other columns. */
const VALUE = '"\\€\u0001\n😀{},'.repeat(50_000)

for (const [what, content] of [
  ['a short message', '<p>[%A%]</p>'],
  ['a message whose body is large too', 'Your berth is ready. '.repeat(100_000)],
]) {
  t.test(`large data of the recipients of ${what} is stored as it was given`, async (t) => {
    const gone = 'gone@harbor.example'
    await service.sql`
      insert into suppressions (account_id, scope, value, reason)
      values (${sender.accountId}, 'address', ${gone}, 'unsubscribe') on conflict do nothing`
    const answer = await send({
      content,
      personalizations: [
        { recipient: 'a@harbor.example', attributes: { A: VALUE } },
        { recipient: 'b@harbor.example' },
        { recipient: gone, attributes: { A: `${VALUE}gone` } },
        { recipient: 'd@harbor.example', attributes: { A: `${VALUE}d` } },
      ],
    })
    t.equal(answer.status, 200, answer.text)
    const id = messageIdOf(answer)
    const rows = await service.sql<{ recipient: string; personal: { attributes: { A: string } } | null }[]>`
      select recipient, personal, recipient_no from delivery_queue where message_id = ${id}::uuid
      union all
      select recipient, personal, recipient_no from finished_deliveries where message_id = ${id}::uuid
      order by recipient_no`
    t.strictSame(
      rows.map(({ recipient, personal }) => [recipient, personal?.attributes.A]),
      [
        ['a@harbor.example', VALUE],
        ['b@harbor.example', undefined],
        [gone, `${VALUE}gone`],
        ['d@harbor.example', `${VALUE}d`],
      ],
    )
    const [body] = await service.sql<{ parts: number }[]>`
      select count(*)::int as parts from bodies where message_id = ${id}::uuid`
    t.equal(body?.parts, 1)
  })
}
