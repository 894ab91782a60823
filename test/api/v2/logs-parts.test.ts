import t from 'tap'
import { makeService, type Sender } from '../../helpers/service.ts'
import { type CallAnswer, call } from '../call.ts'
import { addPast } from './history.ts'

/* A search that has more to scan than one call may: it is never refused, and its pages together have every row once. */

const service = await makeService(t)
const url = await service.openApi()

type Row = { readonly rcptEmail: string; readonly trid: number; readonly subject: string }
const ask = ({ apiKey }: Sender, query: string): Promise<CallAnswer> =>
  call(url, { method: 'GET', path: `/v2/logs?startdate=2026-05-01&${query}`, headers: { api_key: apiKey } })

/** All pages with what each said beside its rows. */
async function allPages(sender: Sender, query: string) {
  const pages: Readonly<Record<string, unknown>>[] = []
  const rows: Row[] = []
  let scroll = ''
  do {
    const { status, json, text } = await ask(sender, `${query}${scroll}`)
    if (status !== 200 || !json) throw new Error(text)
    const { data, ...beside } = json
    rows.push(...(data as Row[]))
    pages.push({ ...beside, count: (data as Row[]).length })
    scroll = `&scrollid=${beside.scrollid}`
  } while (pages.at(-1)?.scrollid !== undefined)
  return { rows, pages, trids: new Set(rows.map(({ trid }) => trid)) }
}

const DAYS = ['01', '02', '03', '04', '05', '06']

for (const [sort, found] of [
  ['asc', 'One'],
  ['desc', 'Six'],
] as const) {
  t.test(
    `a search that scans more than one call may (${sort}) goes on with the next page until it is through`,
    async (t) => {
      const sender = await service.makeSender()
      const subjects = ['One', 'Two', 'Three', 'Four', 'Five', 'Six']
      for (const [at, day] of DAYS.entries()) {
        const deliveries = [{ recipient: 'lena@harbor.example' }, { recipient: 'emil@harbor.example' }]
        await addPast(service, sender, {
          acceptedAt: `2026-05-${day}T10:00:00Z`,
          deliveries,
          subject: subjects[at] as string,
        })
      }
      // As if each had this many recipients: what is to be scanned is known before it is scanned.
      await service.sql`update messages set recipients = 40000 where account_id = ${sender.accountId}`
      const first = (await ask(sender, `sort=${sort}&subject=${found}&limit=5`)).json
      t.match(first, { totalRecords: 2, totalIsMinimum: true, scrollid: String })
      t.equal(first?.searchedTo, `2026-05-0${sort === 'asc' ? 2 : 5}T10:00:00.000Z`)
      for (const [at, subject] of subjects.entries()) {
        const { rows, pages, trids } = await allPages(sender, `sort=${sort}&subject=${subject}&limit=5`)
        t.equal(rows.length, 2, subject)
        t.equal(trids.size, 2)
        t.equal(pages.length, 3)
        const looked = Math.floor((sort === 'asc' ? at : 5 - at) / 2)
        t.same(
          pages.map(({ count }) => count),
          [0, 0, 0].with(looked, 2),
        )
        t.match(pages[2], { searchedTo: undefined, scrollid: undefined })
      }
      const one = await allPages(sender, `sort=${sort}&subject=Three&limit=1`)
      t.equal(one.trids.size, 2, 'pages of one row')
      t.match((await ask(sender, `sort=${sort}&subject=${found}&offset=1&limit=1`)).json, { data: { length: 1 } })
      t.match((await ask(sender, `sort=${sort}&subject=${found}&offset=1&limit=5`)).json, {
        error_info: {
          error_message: /\[offset\] is invalid: skips more than one call searches; use scrollid for later pages/,
        },
      })
    },
  )
}

t.test('the events of a recipient with much mail are looked up in parts', async (t) => {
  const sender = await service.makeSender()
  for (const day of DAYS) {
    const at = `2026-05-${day}T10:00:00Z`
    const deliveries = Array.from({ length: 700 }, (_, no) =>
      no < 3 ? { events: [{ type: 'opened', at } as const] } : {},
    )
    await addPast(service, sender, { acceptedAt: at, deliveries })
  }
  await service.sql`analyze messages, events, finished_deliveries`
  for (const sort of ['asc', 'desc']) {
    const { pages, trids, rows } = await allPages(
      sender,
      `email=lena@harbor.example&events=open&sort=${sort}&limit=100`,
    )
    t.equal(rows.length, 18, sort)
    t.equal(trids.size, 18)
    t.match(pages[0], { totalIsMinimum: true, count: 9 })
    t.equal(pages.length, 2)
  }
})

t.test('mail and events of a recipient with more mail than can be sorted are found in parts, too', async (t) => {
  const sender = await service.makeSender()
  for (const [subject, at] of [
    ['One', '2026-05-01T10:00:00Z'],
    ['Two', '2026-05-02T10:00:00Z'],
  ] as const) {
    const id = await addPast(service, sender, {
      acceptedAt: at,
      subject,
      deliveries: [{ recipient: 'emil@harbor.example' }],
    })
    await service.sql`
      insert into finished_deliveries (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind,
             attempt, finished_at)
      select ${id}, no, ${sender.accountId}, 'delivered', 'lena@harbor.example', 'lena@harbor.example', 'harbor.example', 'to', 1, ${at}
        from generate_series(1, 31000) no`
    await service.sql`
      insert into events (occurred_at, account_id, type, message_id, recipient_no)
      select ${at}::timestamptz, ${sender.accountId}, 'opened', ${id}, no from generate_series(1, 31000) no`
    await service.sql`update messages set recipients = 31001 where id = ${id}`
  }
  await service.sql`analyze messages, events, finished_deliveries`
  for (const [query, count, subjects] of [
    ['email=emil@harbor.example', 2, ['One', 'Two']],
    ['email=lena@harbor.example&limit=4', 4, ['One']],
    ['email=lena@harbor.example&limit=4&sort=desc', 4, ['Two']],
    ['events=open&subject=One&limit=4', 4, ['One']],
    ['events=open&subject=One&limit=4&sort=desc', 4, ['One']],
    ['events=open&limit=4&sort=desc', 4, ['Two']],
    ['email=lena@harbor.example&events=open&limit=4', 4, ['One']],
  ] as const) {
    const { json, text } = await ask(sender, query)
    const rows = (json?.data ?? []) as Row[]
    t.equal(rows.length, count, `${query}: ${text.slice(0, 200)}`)
    t.same([...new Set(rows.map(({ subject }) => subject))].sort(), subjects, query)
  }
  // The messages of an older week are deleted before its deliveries are.
  await service.sql`update messages set recipients = 1 where account_id = ${sender.accountId}`
  t.match((await ask(sender, 'email=lena@harbor.example&limit=4')).json, { data: { length: 4 } })
})

t.test('all messages are counted as far as counting is quick, and shown in any case', async (t) => {
  const sender = await service.makeSender()
  await addPast(service, sender, { acceptedAt: '2026-05-01T10:00:00Z' })
  await service.sql`update messages set recipients = 2000000 where account_id = ${sender.accountId}`
  const { json } = await ask(sender, 'sort=desc&limit=100')
  t.match(json, { totalRecords: 2_000_000, data: { length: 1 } })
  t.equal(json?.totalIsMinimum, undefined, 'it is exact: one message was counted')
})
