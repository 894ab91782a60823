import type { Submission } from '@postrider/core'
import t from 'tap'
import { BOUNCED, DEFERRED, DELIVERED, makeQueue } from '../../core/delivery/queue-of.ts'
import { acceptMessage, envelopeTo } from '../../core/submission.ts'
import { type CallAnswer, call, errorText } from '../call.ts'

interface Row extends Record<string, unknown> {
  readonly messageId: string
  readonly recipient: string
}
interface Page {
  readonly data: readonly Row[]
  readonly next: string | null
  readonly partial: boolean
  readonly searchedTo: string | null
}

const HOUR = 3_600_000

async function makeList(t: Parameters<typeof makeQueue>[0]) {
  const queue = await makeQueue(t)
  const { service, sender } = queue
  const url = await service.openApi()
  const ask = (query: Record<string, string>, { apiKey } = sender): Promise<CallAnswer> =>
    call(url, { method: 'GET', path: `/v2/messages?${new URLSearchParams(query)}`, headers: { api_key: apiKey } })
  const page = async (query: Record<string, string>, by = sender): Promise<Page> => {
    const { status, json, text } = await ask(query, by)
    if (status !== 200) throw new Error(text)
    return json as unknown as Page
  }
  const names = async (search: string, by = sender): Promise<string[]> =>
    (await page({ search }, by)).data.map(({ recipient }) => recipient.split('@')[0] ?? '')
  return { ...queue, url, ask, page, names }
}

const to = (...all: string[]): Pick<Submission, 'envelopes'> => ({
  envelopes: all.map((name) => envelopeTo(`${name}@harbor.example`)),
})

t.test('deliveries are found by every part of the search language, and by the parameter of its name', async (t) => {
  const { service, core, sender, url, ask, page, names, register, claimAll } = await makeList(t)
  const file = { fileName: 'a.txt', content: Buffer.from('a') }
  const first = await acceptMessage(service, sender, {
    ...to('a', 'b', 'c', 'd'),
    tags: ['invoice', 'x'],
    subject: 'Your Invoice 1',
  })
  const workerId = await register()
  const outcomes = [DELIVERED, BOUNCED, DEFERRED]
  await core.deliveries.record(
    (await claimAll(workerId)).flatMap((one) => {
      const outcome = outcomes[one.recipientNo]
      return outcome ? [{ ...one, workerId, outcome }] : []
    }),
  )
  await acceptMessage(service, sender, { ...to('later'), scheduledAt: new Date(Date.now() + HOUR) })
  await acceptMessage(service, sender, {
    ...to('e'),
    attachments: [file],
    from: { email: `Other@${sender.domain}`, name: '' },
  })
  const own = {
    ...envelopeTo('f@pier.example'),
    subject: 'Invoice 2',
    from: { email: `own@${sender.domain}`, name: '' },
  }
  await acceptMessage(service, sender, { door: 'v3', envelopes: [own] })
  const stranger = await service.makeSender()
  await acceptMessage(service, stranger, to('theirs'))

  const id = first.messageId
  const day = (hours: number) => new Date(Date.now() + hours * HOUR).toISOString().slice(0, 16)
  const cases: readonly (readonly [search: string, parameters: Record<string, string>, expected: string[]])[] = [
    ['', {}, ['f', 'e', 'later', 'd', 'c', 'b', 'a']],
    ['to:A@harbor.example', { to: 'A@harbor.example' }, ['a']],
    ['d@harbor.example', { to: 'd@harbor.example' }, ['d']],
    ['to:@pier.example', { to: '@pier.example' }, ['f']],
    [`from:OTHER@${sender.domain}`, { from: `other@${sender.domain}` }, ['e']],
    [`from:own@${sender.domain}`, { from: `own@${sender.domain}` }, ['f']],
    [`domain:${sender.domain}`, { domain: sender.domain }, ['f', 'e', 'later', 'd', 'c', 'b', 'a']],
    ['domain:other.example', { domain: 'other.example' }, []],
    ['state:delivered', { state: 'delivered' }, ['a']],
    ['state:bounced', { state: 'bounced' }, ['b']],
    ['state:deferred', { state: 'deferred' }, ['c']],
    ['state:sending', { state: 'sending' }, ['d']],
    ['state:scheduled', { state: 'scheduled' }, ['later']],
    ['state:queued', { state: 'queued' }, ['f', 'e']],
    ['state:waiting', { state: 'waiting' }, ['f', 'e', 'later', 'd', 'c']],
    ['state:failed,deferred', { state: 'failed,deferred' }, ['c', 'b']],
    ['state:dropped', { state: 'dropped' }, []],
    ['subject:"your invoice 1"', { subject: 'your invoice 1' }, ['d', 'c', 'b', 'a']],
    ['subject:"Your inv"*', { subject_prefix: 'your INV' }, ['d', 'c', 'b', 'a']],
    ['subject:"Your inv"', { subject: 'our inv' }, []],
    ['subject:Your subject:inv', { subject: 'Your inv' }, ['d', 'c', 'b', 'a']],
    ['subject:"invoice 2"', { subject: 'invoice 2' }, ['f']],
    ['tag:invoice', { tag: 'invoice' }, ['d', 'c', 'b', 'a']],
    ['tag:invoic', { tag: 'invoic*' }, ['d', 'c', 'b', 'a']],
    ['tag:"invoic"', { tag: 'voice' }, []],
    [`id:${id}`, { id }, ['d', 'c', 'b', 'a']],
    [`id:${id} state:bounced`, { id, state: 'bounced' }, ['b']],
    [`${id} to:a@harbor.example`, { id, to: 'a@harbor.example' }, ['a']],
    [`id:${'0'.repeat(32)}`, { id: '0'.repeat(32) }, []],
    ['id:x', { id: 'x' }, []],
    ['door:v3', { door: 'v3' }, ['f']],
    ['door:smtp', { door: 'smtp' }, []],
    ['has:attachment', { has: 'attachment' }, ['e']],
    [`after:${day(-1)}`, { after: day(-1) }, ['f', 'e', 'later', 'd', 'c', 'b', 'a']],
    [`before:${day(-1)}`, { before: day(-1) }, []],
    [`id:${id} before:${day(-1)}`, { id, before: day(-1) }, []],
    [`id:${id} after:${day(-1)}`, { id, after: day(-1) }, ['d', 'c', 'b', 'a']],
    [
      `to:b@harbor.example tag:invoice state:failed subject:Your* after:${day(-1)}`,
      { to: 'b@harbor.example', tag: 'x' },
      ['b'],
    ],
    ['state:waiting tag:invoice', { state: 'waiting', tag: 'invoice' }, ['d', 'c']],
    ['to:theirs@harbor.example', { to: 'theirs@harbor.example' }, []],
  ]
  for (const [search, parameters, expected] of cases) {
    t.strictSame(await names(search), expected, search)
    const { data, partial, next } = await page(parameters)
    t.strictSame(
      data.map(({ recipient }) => recipient.split('@')[0]),
      expected,
      JSON.stringify(parameters),
    )
    t.same([partial, next], [false, null])
  }
  t.strictSame((await page({ search: 'tag:invoice', state: 'bounced' })).data.length, 1, 'both apply together')
  t.strictSame(await names('', stranger), ['theirs'], 'only their own')

  const rows = (await page({})).data
  t.match(
    rows.find(({ recipient }) => recipient.startsWith('c')),
    {
      messageId: id.replaceAll('-', ''),
      door: 'v2',
      subject: 'Your Invoice 1',
      tags: ['invoice', 'x'],
      state: 'deferred',
      attempts: 1,
      reply: '451 4.7.1 greylisted',
      nextAt: /^20.*Z$/,
      finishedAt: null,
      hasAttachment: false,
      kind: 'to',
      fromaddress: `desk@${sender.domain}`,
      recipientNo: 2,
      trid: Number,
      acceptedAt: /^20.*Z$/,
      size: Number,
      reason: null,
    },
  )
  t.match(rows[0], { subject: 'Invoice 2', fromaddress: `own@${sender.domain}` }, 'what the recipient sees')
  t.match(rows[1], { hasAttachment: true })

  for (const [query, problem] of [
    [{ search: 'state:lost' }, /^Parameter \[search\] is invalid: state:lost: must be one or several of/],
    [{ door: 'fax' }, 'Parameter [door] is invalid: must be v2 or v3 or smtp'],
    [{ search: 'door:v2', door: 'v3' }, /^Parameter \[door\] is invalid: the search has more than one condition/],
    [{ cursor: 'x' }, 'Parameter [cursor] is invalid: must be the value of next in the previous response'],
    [{ limit: 'x' }, 'Parameter [limit] is invalid: must be a whole number'],
  ] as const) {
    t.match(errorText(await ask({ ...query })), problem)
  }
  const posted = await call(url, {
    path: '/v2/messages',
    headers: { api_key: sender.apiKey },
    body: { search: 'state:bounced' },
  })
  t.equal((posted.json?.data as Row[] | undefined)?.length, 1, 'the same by POST')
})

t.test('pages follow each other, of all mail, of what waits and of one recipient', async (t) => {
  const { service, sender, page } = await makeList(t)
  for (let message = 0; message < 5; message++)
    await acceptMessage(service, sender, to('a', `b${message}`, `c${message}`))
  for (const [search, count] of [
    ['', 15],
    ['state:waiting', 15],
    ['to:a@harbor.example', 5],
    ['to:@harbor.example', 15],
  ] as const) {
    const whole = (await page({ search })).data
    t.equal(whole.length, count)
    const found: Row[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const one: Page = await page({ search, limit: '2', cursor })
      t.ok(one.data.length <= 2)
      found.push(...one.data)
      cursor = one.next
    }
    t.strictSame(found, whole, search)
  }
  t.equal((await page({ limit: '1000' })).data.length, 15, 'the limit is reduced to a hundred')
})

t.test('a search says how far it has looked, and goes on from there', async (t) => {
  const { service, sender, page } = await makeList(t)
  const { sql } = service
  const { messageId } = await acceptMessage(service, sender, { ...to('a'), subject: 'Needle' })
  // The oldest message of more than are searched for one page.
  await sql`
    insert into messages select overlay(id::text placing lpad(to_hex(n), 12, '0') from 25)::uuid, account_id, domain_id, api_key_id, door, accepted_at,
           scheduled_at, from_address, 'Hay', tags, settings, client_address, format, size, parts, 50000, null_return_path, transaction_base
      from messages, generate_series(1, 5) n where id = ${messageId}::uuid`
  const [{ first } = { first: '' }] = await sql<{ first: string }[]>`select min(id::text) as first from messages`
  await sql`update messages set subject = case when id = ${first}::uuid then 'Needle' else 'Hay' end`
  await sql`update delivery_queue set message_id = ${first}::uuid`
  const begun = await page({ search: 'subject:needle' })
  t.match(begun, { data: [], partial: true, next: String, searchedTo: /^20.*Z$/ })
  const next = await page({ search: 'subject:needle', cursor: begun.next ?? '' })
  t.match(next, { data: [{ recipient: 'a@harbor.example' }], next: null, partial: false, searchedTo: null })
})

t.test('the scope events is required, and a hundred messages of another account are not in any answer', async (t) => {
  const { service, core, sender, url, ask, page } = await makeList(t)
  const { secret } = await core.auth.createKey({ accountId: sender.accountId, scopes: ['send'] })
  t.equal((await ask({}, { ...sender, apiKey: secret })).status, 403)
  const stranger = await service.makeSender()
  const bare = async (id: string, path: string) => {
    const { status, text } = await call(url, {
      method: 'GET',
      path: path.replace('ID', id),
      headers: { api_key: stranger.apiKey },
    })
    return { status, text }
  }
  const unknown = await bare('0'.repeat(32), '/v2/messages/ID')
  t.equal(unknown.status, 404)
  const found = await bare('0'.repeat(32), '/v2/messages?id=ID')
  for (let n = 0; n < 100; n++) {
    const id = (await acceptMessage(service, sender, to(`a${n}`))).messageId
    t.strictSame(await bare(id, '/v2/messages/ID'), unknown)
    t.strictSame(await bare(id, '/v2/messages?id=ID'), found)
  }
  t.equal((await page({ limit: '100' })).data.length, 100)
  t.strictSame((await page({}, stranger)).data, [])
})
