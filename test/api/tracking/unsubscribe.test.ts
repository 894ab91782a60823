import { createSecrets, optOutHash } from '@postrider/core'
import t from 'tap'
import { naughtyStrings, skipWithoutThem } from '../../core/naughty-strings.ts'
import { acceptMessage, envelopeTo } from '../../core/submission.ts'
import { claimDue } from '../../helpers/claim.ts'
import { until } from '../../helpers/until.ts'
import { type CallAnswer, FORM } from '../call.ts'
import { BROWSER, makeReaders } from './readers.ts'

const readers = await makeReaders(t)
const { service, sender, ask, deliver, leave, seen } = readers
const ONE_CLICK = 'List-Unsubscribe=One-Click'
let people = 0
const somebody = (): string => `person${++people}@harbor.example`

function post(path: string, body = ONE_CLICK, headers: Record<string, string> = FORM): Promise<CallAnswer> {
  return ask(path, { method: 'POST', body, headers })
}

async function entries(address: string): Promise<Record<string, unknown>[]> {
  const rows = await service.sql`
    select scope, group_id as "group", reason, held_until as until from suppressions
     where account_id = ${sender.accountId} and value = ${address} order by group_id`
  return rows.map((row) => ({ ...row }))
}

const hashOf = (person: string): string =>
  optOutHash(createSecrets(service.env.SECRET_KEY as string), sender.accountId, person)
const OPTED_OUT = { scope: 'address', group: 0, reason: 'unsubscribe', until: null }

t.test(
  'following an unsubscribe link changes nothing: it shows a page with a button, made of nothing but HTML',
  async (t) => {
    const person = somebody()
    const message = await deliver([person])
    for (const method of ['GET', 'HEAD']) {
      const page = await ask(leave(message), { method })
      t.equal(page.status, 200)
      t.match(page.headers['content-type'], /^text\/html/)
      t.match(
        page.headers['content-security-policy'],
        /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; frame-ancestors 'none'/,
      )
      t.equal(page.headers['x-frame-options'], 'DENY')
      t.equal(page.headers['set-cookie'], undefined)
      t.match(page.headers['cache-control'], /no-store/)
      if (method === 'HEAD') continue
      t.match(page.text, '<form method="post">')
      t.match(page.text, `<strong><bdi>${sender.domain}</bdi></strong>`)
      t.ok(page.text.length < 15_000, `${page.text.length} characters`)
      t.notMatch(page.text, /<script/)
      t.notMatch(page.text, /person\d|harbor/, 'nothing of who he is')
    }
    t.strictSame(await entries(person), [])
    t.strictSame(await seen(message), [])
  },
)

t.test('no scanner unsubscribes anybody by following the link, whatever it calls itself', async (t) => {
  const person = somebody()
  const message = await deliver([person])
  for (const agent of ['', 'Mozilla/5.0', 'BarracudaCentral', 'Slackbot', 'curl/8.0', BROWSER]) {
    for (const method of ['GET', 'HEAD']) {
      for (const query of ['', `?${ONE_CLICK}`])
        await ask(leave(message) + query, { method, headers: { 'user-agent': agent } })
    }
  }
  for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
    t.equal((await ask(leave(message), { method, body: ONE_CLICK, headers: FORM })).status, 405)
  }
  t.strictSame(await entries(person), [])
})

t.test('one click unsubscribes: an entry and an event, without a redirect or a cookie', async (t) => {
  const person = somebody()
  const message = await deliver([person])
  const answer = await post(leave(message))
  t.equal(answer.status, 200)
  t.equal(answer.headers['set-cookie'], undefined)
  t.match(answer.text, 'You are unsubscribed')
  t.strictSame(await entries(person), [OPTED_OUT])
  t.strictSame(await seen(message), [
    { type: 'unsubscribed', recipientNo: 0, detail: { ip: '127.0.0.1', userAgent: BROWSER } },
  ])
})

const MULTIPART = '----boundary'
const asMultipart = (value: string, head = 'Content-Disposition: form-data; name="List-Unsubscribe"'): string =>
  `--${MULTIPART}\r\n${head}\r\n\r\n${value}\r\n--${MULTIPART}--\r\n`
const MULTIPART_TYPE = { 'content-type': `multipart/form-data; boundary=${MULTIPART}` }

/** Forms that mail programs and providers send (RFC 8058 3.1), and what they come to. */
const FORMS: readonly (readonly [what: string, body: string, headers: Record<string, string>, status: number])[] = [
  ['an urlencoded form', ONE_CLICK, FORM, 200],
  ['an urlencoded form with a charset', ONE_CLICK, { 'content-type': `${FORM['content-type']}; charset=UTF-8` }, 200],
  ['an urlencoded form with a line end', `${ONE_CLICK}\r\n`, FORM, 200],
  ['an urlencoded form with its hyphens escaped', 'List%2DUnsubscribe=One%2DClick', FORM, 200],
  ['an urlencoded form with more in it', `a=b&${ONE_CLICK}&c=%zz`, FORM, 200],
  ['a form in other letters', 'list-unsubscribe=one-click', FORM, 200],
  ['a form without a type', ONE_CLICK, {}, 200],
  ['a form that calls itself plain text', ONE_CLICK, { 'content-type': 'text/plain' }, 200],
  ['a multipart form', asMultipart('One-Click'), MULTIPART_TYPE, 200],
  [
    'a multipart form whose part has a type',
    asMultipart('One-Click', 'Content-Disposition: form-data; name="List-Unsubscribe"\r\nContent-Type: text/plain'),
    MULTIPART_TYPE,
    200,
  ],
  ['a multipart form in bare line ends', asMultipart('One-Click').replaceAll('\r\n', '\n'), MULTIPART_TYPE, 200],
  ['an empty form', '', FORM, 400],
  ['a form that says something else', 'List-Unsubscribe=Two-Clicks', FORM, 400],
  ['a multipart form that says something else', asMultipart('One-Clicks'), MULTIPART_TYPE, 400],
  ['another form', 'action=unsubscribe', FORM, 400],
  ['JSON', '{"List-Unsubscribe": "One-Click"}', { 'content-type': 'application/json' }, 400],
  ['a form of 9 kB', `a=${'x'.repeat(9000)}&${ONE_CLICK}`, FORM, 413],
]

for (const [what, body, headers, status] of FORMS) {
  t.test(`${what} ${status === 200 ? 'unsubscribes' : `is answered ${status} and changes nothing`}`, async (t) => {
    const person = somebody()
    const message = await deliver([person])
    const answer = await post(leave(message), body, headers)
    t.equal(answer.status, status)
    t.equal((await entries(person)).length, status === 200 ? 1 : 0)
    if (status !== 200) t.notMatch(answer.text, /Two|action|xxx/, 'nothing comes back')
  })
}

t.test('requested again, and ten times at once, it is one entry and one event', async (t) => {
  const person = somebody()
  const [message, other] = [await deliver([person]), await deliver([person])]
  const answers = await Promise.all(Array.from({ length: 10 }, (_, at) => post(leave(at % 2 ? message : other))))
  t.ok(answers.every(({ status }) => status === 200))
  t.equal((await post(leave(message))).status, 200)
  t.strictSame(await entries(person), [OPTED_OUT])
  t.equal((await seen(message)).length + (await seen(other)).length, 1)
})

t.test('an unsubscribe after a removal from the list is reported again', async (t) => {
  const person = somebody()
  const message = await deliver([person])
  await post(leave(message))
  await service.core.suppressions.removeAll({ accountId: sender.accountId, emails: [person] })
  await post(leave(message))
  t.strictSame(await entries(person), [OPTED_OUT])
  t.equal((await seen(message)).length, 2)
})

t.test('an explicit unsubscribe replaces what was found automatically, and never expires', async (t) => {
  for (const [reason, after, events] of [
    ['hardbounce', 'unsubscribe', 1],
    ['manual', 'unsubscribe', 1],
    // The complaint stays, and it is remembered that the person left, too.
    ['abuse', 'abuse', 1],
  ] as const) {
    const person = somebody()
    const message = await deliver([person])
    await service.sql`
      insert into suppressions (account_id, scope, value, reason, held_until)
      values (${sender.accountId}, 'address', ${person}, ${reason},
              ${reason === 'hardbounce' ? service.sql`service_now() + interval '1 day'` : null})`
    for (let time = 1; time <= 2; time++) t.equal((await post(leave(message))).status, 200)
    t.strictSame(await entries(person), [{ ...OPTED_OUT, reason: after }])
    t.equal((await seen(message)).length, events, reason)
  }
})

t.test('a link of a group leaves the group alone', async (t) => {
  const person = somebody()
  const message = await deliver([person])
  const page = await ask(leave(message, { group: 7 }))
  t.match(page.text, 'emails of this kind')
  t.equal((await post(leave(message, { group: 7 }))).status, 200)
  t.strictSame(await entries(person), [{ ...OPTED_OUT, scope: 'group', group: 7 }])
  t.strictSame((await seen(message))[0]?.detail.group, 7)
  await post(leave(message))
  t.equal((await entries(person)).length, 2, 'and all mail after that, if he likes')
  t.equal((await seen(message)).length, 2)
})

t.test('after it nothing is sent to the recipient: neither new nor waiting mail', async (t) => {
  const person = somebody()
  const message = await deliver([person])
  const waiting = await readers.accept([person])
  await post(leave(message))
  const later = await readers.accept([person])
  t.equal((await service.core.messages.show(later))?.deliveries[0]?.state, 'dropped')
  const lease = await service.core.deliveries.register({ host: 'worker.example', pid: process.pid })
  const claimed = await claimDue(service.core, { workerId: lease.workerId, limit: 100 })
  t.strictSame(
    claimed.map(({ messageId, suppression }) => [messageId.replaceAll('-', ''), suppression]),
    [[waiting, 'unsubscribe']],
  )
  await service.core.deliveries.release(lease.workerId, claimed, 86_400)
  await lease.release()
})

t.test('an address is unsubscribed whatever letters it was written in', async (t) => {
  const person = somebody()
  const message = await deliver([person.replace('person', 'PERSON')])
  await post(leave(message))
  t.strictSame(await entries(person), [OPTED_OUT])
})

t.test('in privacy mode the event does not say from where', async (t) => {
  const person = somebody()
  const message = await deliver([person])
  await service.sql`update accounts set privacy_mode = true where id = ${sender.accountId}`
  await post(leave(message))
  await service.sql`update accounts set privacy_mode = false where id = ${sender.accountId}`
  t.strictSame((await seen(message))[0]?.detail, {})
})

t.test('an erased recipient is unsubscribed by the hash in their own mail, and stays erased', async (t) => {
  const person = somebody()
  const message = await deliver([person])
  const url = hashOf(person)
  await service.core.privacy.forget(sender.accountId, [person])
  await readers.pass(120)
  while (await service.core.privacy.forgetSome());
  const bare = await post(leave(message))
  t.equal(bare.status, 410, 'without the hash nobody knows any more who it is, and the page says so')
  t.match(bare.text, 'please contact the sender')
  t.equal((await post(leave(message, { url }))).status, 200)
  t.equal((await post(leave(message, { url }))).status, 200)
  t.strictSame(await entries(person), [])
  t.strictSame(await seen(message), [])
  const held = await until('the hash to be known', async () => {
    const later = await acceptMessage(service, sender, { envelopes: [envelopeTo(person)] })
    const [delivery] = (await service.core.messages.show(later.messageId))?.deliveries ?? []
    return delivery?.state === 'dropped' && delivery
  })
  t.match(held, { state: 'dropped', reason: 'unsubscribe' })
})

t.test("a link that was cut says so in the reader's language, and what to do", async (t) => {
  const whole = leave(await deliver([somebody()]))
  for (const path of [whole.slice(0, -1), whole.slice(0, 30), whole.replace('/t/u/', '/t/p/')]) {
    const page = await ask(path)
    t.equal(page.status, 404, path)
    t.match(page.headers['content-type'], /^text\/html/)
    t.match(page.text, 'This link is incomplete')
    t.match(page.text, 'copy the whole link from the email')
    t.match((await ask(path, { headers: { 'accept-language': 'de' } })).text, 'Dieser Link ist unvollständig')
    t.notMatch(page.text, '<form')
  }
})

t.test('a link whose message is no longer kept works by its hash too', async (t) => {
  const person = somebody()
  const url = hashOf(person)
  const gone = '0197a0b1c2d37e4f8a9bacbdcedfe0f1'
  t.match((await ask(leave(gone))).text, 'emails from this sender')
  t.equal((await post(leave(gone))).status, 410)
  t.equal((await post(leave(gone, { url }))).status, 200)
  const [kept] = await service.sql`select count(*)::int as count from forgotten where account_id = ${sender.accountId}`
  t.equal(kept?.count, 2)
  t.equal(
    (await post(leave(gone, { accountId: 4_000_000, url }))).status,
    200,
    'and of an account that is gone there is nothing to do',
  )
})

t.test("another account's entry is not touched", async (t) => {
  const person = somebody()
  const other = await service.makeSender()
  const message = await deliver([person])
  await post(leave(message, { accountId: other.accountId }))
  t.strictSame(await entries(person), [])
  const [theirs] =
    await service.sql`select count(*)::int as count from suppressions where account_id = ${other.accountId}`
  t.equal(theirs?.count, 0)
})

const tagsOf = (page: string) => page.replaceAll('<span class="ctl">', '').match(/<\w+/g)?.length

t.test('no strange sender puts markup into the page', skipWithoutThem, async (t) => {
  const message = await deliver([somebody()])
  const plain = tagsOf((await ask(leave(message))).text)
  for (const text of naughtyStrings.filter((text) => !text.includes('\0'))) {
    await service.sql`update messages set from_address = ${`desk@${text}`} where id = ${message}::uuid`
    const page = await ask(leave(message))
    t.equal(page.status, 200)
    const inner = /<strong><bdi>(.*?)<\/bdi><\/strong>/s.exec(page.text)?.[1] ?? 'none'
    t.notMatch(inner.replaceAll(/<span class="ctl">U\+[0-9A-F]+<\/span>/g, ''), /[<>"']/)
    t.equal(tagsOf(page.text), plain, text)
  }
})
