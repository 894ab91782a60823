import t from 'tap'
import { until } from '../../helpers/until.ts'
import { BROWSER, makeReaders } from './readers.ts'

const readers = await makeReaders(t)
const { ask, deliver, link, pixel, leave, seen } = readers
const SHOP = 'https://shop.example/berth?id=4&utm_source=mail#top'

t.test('a link leads to where it was sealed to lead, by a 302 that tells the next server nothing', async (t) => {
  const message = await deliver()
  const answer = await ask(link(message, SHOP, { link: 3 }))
  t.equal(answer.status, 302)
  t.equal(answer.headers.location, SHOP)
  t.equal(answer.headers['referrer-policy'], 'no-referrer')
  t.match(answer.headers['cache-control'], /no-store/)
  t.equal(answer.headers['set-cookie'], undefined)
  t.strictSame(await seen(message), [
    {
      type: 'clicked',
      recipientNo: 0,
      detail: { ip: '127.0.0.1', userAgent: BROWSER, url: SHOP, link: 3, rules: 1, first: true },
    },
  ])
})

t.test(
  'what no header can hold stands percent-encoded in Location, and everything else as it was sealed',
  async (t) => {
    const message = await deliver()
    for (const [sealed, location] of [
      ['https://shop.example/a%20b?x=%C3%A9&y[]=1|2', 'https://shop.example/a%20b?x=%C3%A9&y[]=1|2'],
      ['http://shop.example:8080/Ä b', 'http://shop.example:8080/%C3%84%20b'],
      ['https://shop.example/\r\nSet-Cookie: a=b', 'https://shop.example/%0D%0ASet-Cookie:%20a=b'],
      ['https://shop.example/\u{1f6a2}\0\x7f', 'https://shop.example/%F0%9F%9A%A2%00%7F'],
      ['HTTPS://shop.example', 'HTTPS://shop.example'],
    ] as const) {
      const answer = await ask(link(message, sealed))
      t.equal(answer.status, 302, sealed)
      t.equal(answer.headers.location, location)
      t.equal(answer.headers['set-cookie'], undefined)
    }
  },
)

t.test('whatever follows a link in the text of a mail leads where the link leads', async (t) => {
  const message = await deliver()
  for (const url of [SHOP, 'https://shop.example/', 'https://shop.example/1', 'https://shop.example/12']) {
    const path = link(message, url)
    t.match(path, /[A-Za-z0-9]$/, 'no mail program drops its last character')
    for (const trail of [
      '.',
      ',',
      ')',
      ').',
      '*',
      '_',
      '-',
      '~',
      'A',
      '0abc',
      '/',
      '/x',
      '.gif',
      '%',
      '%zz',
      '%3E',
      '%E2%80%9D',
      '%00',
      ';x=1',
      '](https://shop.example/',
      '?',
      '?utm_source=x',
      '.?a=%',
      `_${'x'.repeat(3000)}`,
    ]) {
      const answer = await ask(`${path}${trail}`)
      t.strictSame([answer.status, answer.headers.location], [302, url], trail.slice(0, 20))
    }
  }
})

t.test('where nothing but http and https leads to, no link leads', async (t) => {
  const message = await deliver()
  for (const sealed of [
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    ' javascript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    'ftp://shop.example/',
    'mailto:a@b.example',
    '//shop.example/',
    '/\\shop.example',
    '\\\\shop.example',
    'https:shop.example',
    'https:///shop.example',
    'https:\\\\shop.example',
    'http://',
    'https://',
    'http://[::1',
    'http://shop.example:99999/',
    '',
    'shop.example',
    '\r\nLocation: https://shop.example',
  ]) {
    const answer = await ask(link(message, sealed))
    t.equal(answer.status, 404, sealed)
    t.equal(answer.headers.location, undefined)
    t.equal(answer.text, 'Not found\n', 'and nothing of it comes back')
  }
  t.strictSame(await seen(message), [])
})

t.test('every click is counted, and the first of a person is the first, whichever link it follows', async (t) => {
  const message = await deliver()
  for (const [at, url] of ['https://shop.example/a', 'https://shop.example/a', 'https://shop.example/b'].entries()) {
    await ask(link(message, url, { link: at === 2 ? 1 : 0 }))
    await readers.pass(30)
  }
  const events = await seen(message)
  t.strictSame(
    events.map(({ detail }) => [detail.url, detail.first, detail.machine]),
    [
      ['https://shop.example/a', true, undefined],
      ['https://shop.example/a', undefined, undefined],
      ['https://shop.example/b', undefined, undefined],
    ],
  )
})

t.test('a link works permanently: also when its message is forgotten, and then nothing is recorded', async (t) => {
  const message = await deliver(['anna@harbor.example'])
  await ask(link(message, SHOP))
  await ask(pixel(message))
  const { service, sender } = readers
  // What waits to be classified when he is forgotten goes too.
  await service.core.privacy.forget(sender.accountId, ['anna@harbor.example'])
  await readers.pass(120)
  while (await service.core.privacy.forgetSome());
  t.strictSame([...(await service.sql`select 1 from hits where message_id = ${message}::uuid`)], [])
  t.equal((await ask(link(message, SHOP))).status, 302)
  t.strictSame(await seen(message), [])
  await service.sql`delete from finished_deliveries where message_id = ${message}::uuid`
  await service.sql`delete from messages where id = ${message}::uuid`
  t.equal((await ask(link(message, SHOP))).headers.location, SHOP)
})

t.test(
  'of one who is forgotten, events keep neither address, program nor where he went, and a copy shows all',
  async (t) => {
    const { service, sender } = readers
    const message = await deliver(['otto@harbor.example'])
    await ask(link(message, SHOP))
    await ask(pixel(message), { headers: { 'user-agent': 'Mozilla/5.0' } })
    await ask(leave(message), { method: 'POST', body: 'List-Unsubscribe=One-Click' })
    t.equal((await seen(message)).length, 3)
    const told: Readonly<Record<string, unknown>>[] = []
    for (let next: string | undefined = ''; next !== undefined; ) {
      const page = await service.core.privacy.export(sender.accountId, {
        email: 'otto@harbor.example',
        limit: 10,
        next,
      })
      told.push(...page.deliveries.flatMap(({ events }) => events))
      next = page.next
    }
    t.match(
      told.find(({ type }) => type === 'clicked'),
      { detail: { url: SHOP, ip: '127.0.0.1', userAgent: BROWSER } },
    )
    t.match(
      told.find(({ type }) => type === 'opened'),
      { detail: { machine: 'prefetcher', ip: '127.0.0.1' } },
    )
    await service.core.privacy.forget(sender.accountId, ['otto@harbor.example'])
    await readers.pass(120)
    while (await service.core.privacy.forgetSome());
    t.strictSame(Object.fromEntries((await seen(message)).map(({ type, detail }) => [type, detail])), {
      unsubscribed: null,
      opened: { machine: 'prefetcher', rules: 1 },
      clicked: { rules: 1, first: true },
    })
  },
)

for (const act of ['classified', 'unsubscribed'] as const) {
  t.test(`a recipient who is erased while they are ${act} leaves nothing behind`, async (t) => {
    const { service, sender } = readers
    const person = `${act}@harbor.example`
    const message = await deliver([person])
    await ask(pixel(message))
    await readers.pass(10)
    const forgetting = await service.sql.reserve()
    await forgetting`begin`
    await forgetting`
      update finished_deliveries set recipient = 'forgotten-1', recipient_key = 'forgotten-1' where message_id = ${message}::uuid`
    const acting =
      act === 'classified'
        ? service.core.tracking.classify().then(() => 0)
        : ask(leave(message), { method: 'POST', body: 'List-Unsubscribe=One-Click' }).then(({ status }) => status)
    await until('it to wait', async () => {
      const waiting = await forgetting`
        select 1 from pg_locks l join pg_database d on d.oid = l.database
         where d.datname = current_database() and not granted
        union all select 1 from pg_locks where not granted and locktype = 'transactionid'`
      return waiting.length > 0
    })
    await forgetting`commit`
    forgetting.release()
    t.equal(await acting, act === 'classified' ? 0 : 410)
    t.strictSame(await seen(message), [])
    const held = await service.core.suppressions.holding(sender.accountId, person)
    t.strictSame([...held], [])
  })
}

t.test('a link token is no pixel, and a pixel no link', async (t) => {
  const message = await deliver()
  t.equal((await ask(link(message, SHOP).replace('/c/', '/o/'))).status, 404)
  t.equal((await ask(link(message, SHOP).replace('/c/', '/u/'))).status, 404)
  t.equal((await ask(pixel(message).replace('/o/', '/c/'))).status, 404)
  t.equal((await ask(leave(message).replace('/u/', '/c/'))).status, 404)
  t.strictSame(await seen(message), [])
})
