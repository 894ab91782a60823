import { shortMessageId } from '@postrider/core'
import t from 'tap'
import { sendV2, v2Body } from '../../helpers/send.ts'
import type { Copy } from '../arrivals.ts'
import { call } from '../call.ts'
import { refusedV3 } from './ask.ts'
import { makeMailArrivals, messageIdOf } from './mail-arrivals.ts'

const { service, base, sender, send, copies } = await makeMailArrivals(t)
const { sql } = service
/** So that the rows stay in the queue. */
const inAnHour = Math.floor(service.core.clock.now() / 1000) + 3600
const person = (at: number) => ({ email: `r${at}.longer-name@harbor.example`, name: `Lovelace, Ada No ${at}` })
const people = (count: number, from = 0) => Array.from({ length: count }, (_, at) => person(from + at))
const shownIn = ({ mail }: Copy, field: 'to' | 'cc') =>
  [mail[field]].flat().flatMap((list) => list?.value.map(({ address, name }) => ({ email: address, name })) ?? [])

t.test('every copy shows all recipients of a personalization with their names, however many', async (t) => {
  const [to, cc, bcc] = [people(40), people(20, 40), people(5, 60)]
  const other = { to: people(2, 70) }
  const answer = await send({ personalizations: [{ to, cc, bcc }, other] })
  const all = await copies(answer, 67)
  for (const copy of all) {
    const isOther = other.to.some(({ email }) => email === copy.recipient)
    t.strictSame(shownIn(copy, 'to'), isOther ? other.to : to)
    t.strictSame(shownIn(copy, 'cc'), isOther ? [] : cc)
  }
  t.notOk(
    all.some(({ raw }) => raw.includes('r60.longer-name')),
    'bcc is hidden',
  )
  t.equal(new Set(all.map(({ mail }) => mail.messageId)).size, 2)
})

t.test('a thousand visible recipients with names take little more room than a thousand personalizations', async (t) => {
  const sizeOf = async (personalizations: unknown): Promise<number> => {
    const answer = await send({ personalizations, send_at: inAnHour })
    t.equal(answer.status, 202, answer.text)
    const id = messageIdOf(answer)
    const [{ octets } = { octets: 0 }] = await sql<{ octets: number }[]>`
      select (select sum(pg_column_size(q.*)) from delivery_queue q where q.message_id = ${id}::uuid)::int
           + (select sum(pg_column_size(b.*)) from bodies b where b.message_id = ${id}::uuid)::int as octets`
    return octets
  }
  const apart = await sizeOf(people(1000).map((one) => ({ to: [one] })))
  const together = await sizeOf([{ to: people(1000) }])
  t.ok(together < 1.5 * apart, `${together} octets, and ${apart}`)
})

t.test('what recipients see is bounded', async (t) => {
  const to = people(1000).map((one) => ({ ...one, name: 'x'.repeat(600) }))
  refusedV3(t, await send({ personalizations: [{ to }] }), [400, /at most 512 kB/, 'personalizations.0.to'])
  t.equal((await send({ personalizations: to.map((one) => ({ to: [one] })) })).status, 202)
})

t.test('a list that is stored once stops a program that does not know it, and is found by the search', async (t) => {
  const named = { ...person(7), name: 'Quaynard' }
  const answer = await send({ personalizations: [{ to: people(50).with(7, named) }], send_at: inAnHour })
  const id = messageIdOf(answer)
  const rows = await sql<{ personal: Record<string, unknown>; recipient: string }[]>`
    select personal, recipient from delivery_queue where message_id = ${id}::uuid order by recipient_no`
  // Versions before it take a list of addresses from `to`: a text has no `map`, and without `to` they would show the recipient alone.
  t.strictSame(rows[7], {
    personal: { envelope: 0, to: 'envelope', names: { [named.email]: named.name } },
    recipient: named.email,
  })
  const get = (path: string) =>
    call(base, { method: 'GET', path: `/v2/messages${path}`, headers: { api_key: sender.apiKey } })
  t.match((await get('?search=quaynard')).json, { data: { length: 1, 0: { recipient: named.email } } })
  const found = await get(`/${id}/source?recipient_no=7`)
  t.match(found.text, /^To: "Lovelace, Ada No 0" <r0\.longer-name@harbor\.example>,/m)
  t.match(found.text.replace(/\r\n[ \t]/g, ' '), /, "Lovelace, Ada No 49" <r49\.longer-name@harbor\.example>\r$/m)
})

t.test('v2 shows its Cc likewise', async (t) => {
  const cc = people(60, 100).map(({ email }) => email)
  const recipient = { recipient: 'lena@harbor.example', recipient_cc: cc }
  const answer = await sendV2(base, sender.apiKey, v2Body(sender, { personalizations: [recipient] }))
  t.equal(answer.status, 200)
  const all = await copies(
    { status: 202, headers: { 'x-message-id': shortMessageId(answer.body.data?.message_id ?? '') }, text: '' } as never,
    61,
  )
  for (const { mail } of all) {
    t.strictSame(
      [mail.to].flat().map((list) => list?.text),
      ['lena@harbor.example'],
    )
    t.strictSame(
      [mail.cc].flat().flatMap((list) => list?.value.map(({ address }) => address)),
      cc,
    )
  }
})
