import t from 'tap'
import { acceptMessage, envelopeTo } from '../../core/submission.ts'
import { makeService, type Sender } from '../../helpers/service.ts'
import { type CallAnswer, call } from '../call.ts'
import { addPast } from './history.ts'

type Row = { readonly rcptEmail: string; readonly trid: number; readonly status: string }

const service = await makeService(t)
const url = await service.openApi()

const ask = ({ apiKey }: Sender, query: string): Promise<CallAnswer> =>
  call(url, { method: 'GET', path: `/v2/logs?${query}`, headers: { api_key: apiKey } })
const today = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)

/** All pages; `between` is done before each but the first. */
async function allPages(sender: Sender, query: string, between: () => Promise<unknown> = async () => {}) {
  const rows: Row[] = []
  const totals: unknown[] = []
  let scroll = ''
  for (;;) {
    const { status, json, text } = await ask(sender, `${query}${scroll}`)
    if (status !== 200) throw new Error(text)
    rows.push(...((json?.data ?? []) as Row[]))
    totals.push(json?.totalRecords)
    if (json?.scrollid === undefined) return { rows, totals }
    scroll = `&scrollid=${json.scrollid}`
    await between()
  }
}

const tridsOf = (rows: readonly Row[]): number[] => rows.map(({ trid }) => trid)
const send = (sender: Sender, count: number) =>
  acceptMessage(service, sender, {
    envelopes: Array.from({ length: count }, (_, at) => envelopeTo(`r${at}@harbor.example`)),
  })

for (const sort of ['asc', 'desc']) {
  t.test(
    `a reader who pages (${sort}) while mail comes in and goes out sees each row once and leaves none out`,
    async (t) => {
      const sender = await service.makeSender()
      for (let round = 0; round < 8; round++) await send(sender, 1 + (round % 3) * 4)
      const query = `startdate=${today}&sort=${sort}&limit=3`
      const before = await allPages(sender, `startdate=${today}&sort=${sort}&limit=1000`)
      const { rows, totals } = await allPages(sender, query, async () => {
        await send(sender, 2)
        // What waits is delivered meanwhile: a row keeps its place.
        await service.sql`
        with gone as (delete from delivery_queue where ctid in (select ctid from delivery_queue order by random() limit 4) returning *)
        insert into finished_deliveries (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain,
               kind, reference, personal, attempt, finished_at)
        select message_id, recipient_no, account_id, 'delivered', recipient, recipient_key, recipient_domain, kind, reference,
               personal, 1, service_now() from gone`
      })
      t.strictSame(tridsOf(rows), tridsOf(before.rows))
      t.equal(new Set(tridsOf(rows)).size, rows.length)
      t.strictSame(new Set(totals), new Set([before.rows.length]), 'counted once')
      t.ok(rows.some(({ status }) => status === 'sent'))
    },
  )
}

t.test('a page by cursor may have 5,000 rows, and pages go through every kind of filter', async (t) => {
  const sender = await service.makeSender()
  const at = '2026-05-01T10:00:00Z'
  const deliveries = Array.from({ length: 3000 }, (_, at_) => ({
    recipient: at_ % 3 === 0 ? 'lena@harbor.example' : `r${at_}@harbor.example`,
    ...(at_ % 2 === 0 ? { events: [{ type: 'opened', at } as const] } : {}),
  }))
  await addPast(service, sender, { acceptedAt: at, deliveries, subject: 'One' })
  await addPast(service, sender, {
    acceptedAt: '2026-05-02T10:00:00Z',
    deliveries: deliveries.slice(0, 3000),
    subject: 'Two',
  })
  // As autovacuum does sooner or later: before it the pages take eight seconds of processor time more.
  await service.sql`analyze messages, events, finished_deliveries`
  const first = await ask(sender, 'startdate=2026-05-01&limit=1000')
  const rest = await ask(sender, `startdate=2026-05-01&limit=1000000&scrollid=${first.json?.scrollid}`)
  t.equal(((rest.json?.data ?? []) as Row[]).length, 5000)
  for (const [filter, count] of [
    ['', 6000],
    ['&events=open', 3000],
    ['&events=sent', 6000],
    ['&events=open&subject=Two', 1500],
    ['&email=lena@harbor.example', 2000],
    ['&email=lena@harbor.example&events=open', 1000],
    ['&subject=One', 3000],
  ] as const) {
    for (const sort of ['asc', 'desc']) {
      const { rows, totals } = await allPages(sender, `startdate=2026-05-01&limit=1000&sort=${sort}${filter}`)
      t.equal(rows.length, count, `${filter} ${sort}`)
      t.equal(totals[0], count)
      t.equal(new Set(tridsOf(rows)).size, count)
    }
  }
})

t.test('a cursor is good for its account and its question only', async (t) => {
  const [sender, other] = [await service.makeSender(), await service.makeSender()]
  for (const { accountId, ...rest } of [sender, other]) await send({ accountId, ...rest }, 5)
  const { json } = await ask(sender, `startdate=${today}&limit=2`)
  const scroll = String(json?.scrollid)
  const code = async (who: Sender, query: string) =>
    ((await ask(who, query)).json?.error_info as { error_code?: number } | undefined)?.error_code
  t.equal(await code(sender, `startdate=${today}&limit=3&scrollid=${scroll}`), undefined, 'the limit may change')
  t.equal(await code(sender, `startdate=${today}&scrollid=`), undefined, 'an empty one is none')
  t.equal(await code(other, `startdate=${today}&limit=2&scrollid=${scroll}`), 113)
  t.equal(await code(sender, `startdate=${today}&limit=2&events=open&scrollid=${scroll}`), 113)
  t.equal(await code(sender, `startdate=${today}&limit=2&sort=desc&scrollid=${scroll}`), 113)
  const altered = scroll.replace(/^./, (letter) => (letter === 'A' ? 'B' : 'A'))
  for (const made of [altered, 'x', scroll.slice(0, -2), `${scroll}AAAA`, 'A'.repeat(5000)]) {
    t.equal(await code(sender, `startdate=${today}&limit=2&scrollid=${made}`), 113, made.slice(0, 90))
  }
})

t.test('too many rows passed over are refused with what to do instead', async (t) => {
  const sender = await service.makeSender()
  await addPast(service, sender, { acceptedAt: '2026-05-01T10:00:00Z' })
  await service.sql`update messages set recipients = 300000 where account_id = ${sender.accountId}`
  const text = async (query: string) => (await ask(sender, query)).text
  t.match(await text('startdate=2026-05-01&offset=10001'), /use scrollid for later pages/)
  t.match((await ask(sender, 'startdate=2026-05-01')).json, { totalRecords: 300000 }, 'counting all is no search')
  t.match((await ask(sender, 'startdate=2026-05-01&events=open')).json, { totalRecords: 0 })
})
