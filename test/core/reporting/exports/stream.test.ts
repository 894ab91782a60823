import t from 'tap'
import { rangeOf } from '../../../../packages/core/src/reporting/exports/read-span.ts'
import { numberEvents } from '../../../helpers/number-events.ts'
import { makeService } from '../../../helpers/service.ts'

const service = await makeService(t)
const { core, sql } = service

/** Days of last week, whose pages are not those of this one. */
const lastWeek = new Date()
lastWeek.setUTCDate(lastWeek.getUTCDate() - ((lastWeek.getUTCDay() + 6) % 7) - 7)
const [tuesday, wednesday, thursday] = [1, 2, 3].map((days) =>
  new Date(lastWeek.getTime() + days * 86_400_000).toISOString().slice(0, 10),
) as [string, string, string]

/** Its first event, that its domain became active, is of this week. */
async function makeAccount(): Promise<number> {
  const { accountId } = await service.makeSender()
  await numberEvents(service)
  return accountId
}

/** Events that need no message; as many as fill a page, if not told otherwise. */
async function addEvents(accountId: number, date: string, count = 1000): Promise<void> {
  await sql`
    insert into events (occurred_at, account_id, type, detail)
    select ${date}::date + make_interval(hours => 12, secs => i), ${accountId}, 'sent', '{}' from generate_series(1, ${count}) i`
  await numberEvents(service)
}

/** How many events of the day are streamed, and the numbers of those that are looked at for them. */
async function streamed(accountId: number, date: string): Promise<{ events: number; first: number; last: number }> {
  const lines = await core.exports.stream(accountId, { startDate: date, endDate: date, events: [] })
  let text = ''
  for await (const line of lines) text += line
  const beginsAt = new Date(date)
  const endsAt = new Date(beginsAt.getTime() + 86_400_000)
  const { position, last } = await rangeOf(sql, { accountId, kinds: [], beginsAt, endsAt })
  return { events: text.split('\n').length - 1, first: position + 1, last }
}

t.test('a day is read without the pages of the other days of its week', async (t) => {
  const accountId = await makeAccount()
  for (const date of [tuesday, wednesday, thursday]) await addEvents(accountId, date)
  t.strictSame(await streamed(accountId, tuesday), { events: 1000, first: 2, last: 1001 })
  t.strictSame(await streamed(accountId, wednesday), { events: 1000, first: 1002, last: 2001 })
  t.strictSame(await streamed(accountId, thursday), { events: 1000, first: 2002, last: 3001 })
})

t.test('a page holds events of several days, and is read for each', async (t) => {
  const accountId = await makeAccount()
  for (const date of [tuesday, wednesday, tuesday, thursday]) await addEvents(accountId, date, 10)
  t.strictSame(await streamed(accountId, tuesday), { events: 20, first: 2, last: 41 })
  t.strictSame(await streamed(accountId, thursday), { events: 10, first: 2, last: 41 })
})

t.test('a page whose times an older version did not keep is read', async (t) => {
  const accountId = await makeAccount()
  for (const date of [tuesday, wednesday]) await addEvents(accountId, date, 10)
  const ask = async () => (await streamed(accountId, wednesday)).events
  await sql`
    update event_pages set latest = earliest + interval '1 hour', timed = 10 where account_id = ${accountId}`
  t.equal(await ask(), 10, 'it had a page that it found, and added to it')
  await addEvents(accountId, thursday, 10)
  t.equal(await ask(), 10, 'a newer version that goes on with the page knows no better')
  await sql`
    update event_pages set earliest = null, latest = null, timed = null where account_id = ${accountId}`
  t.equal(await ask(), 10, 'it made the page')
})
