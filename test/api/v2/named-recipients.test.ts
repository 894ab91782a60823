import t from 'tap'
import { makeArrivals } from '../arrivals.ts'

const { send, copies, story } = await makeArrivals(t)

const WRITTEN: readonly (readonly [written: string, name: string])[] = [
  ['Lena <lena@harbor.example>', 'Lena'],
  ['  Lena Quay   <lena@harbor.example> ', 'Lena Quay'],
  ['"Quay, Lena" <lena@harbor.example>', 'Quay, Lena'],
  ['"Lena \\"L\\" Quay" <lena@harbor.example>', 'Lena "L" Quay'],
  ['Größe ü <lena@harbor.example>', 'Größe ü'],
  ['<lena@harbor.example>', ''],
  ['lena@harbor.example', ''],
]
for (const [written, name] of WRITTEN) {
  t.test(`a recipient may be written as ${written}, in every list`, async (t) => {
    const to = await send({ personalizations: [{ recipient: written }] })
    t.match((await copies(to))[0], { recipient: 'lena@harbor.example', mail: { to: { value: [{ name }] } } })
    const copied = await send({
      personalizations: [
        { recipient: 'a@harbor.example', recipient_cc: [written], recipient_bcc: written.replace('lena@', 'mina@') },
      ],
      settings: { bcc: `${written.replace('lena@', 'nora@')}` },
    })
    const all = await copies(copied, 4)
    t.strictSame(
      all.map(({ recipient }) => recipient),
      ['a', 'lena', 'mina', 'nora'].map((local) => `${local}@harbor.example`),
    )
    t.match(all[0]?.mail.cc, { value: [{ address: 'lena@harbor.example', name }] })
  })
}

t.test('text with several copies is split at the commas outside quotes and brackets', async (t) => {
  const list =
    '"Quay, Lena" <lena@harbor.example>, mina@harbor.example,,Nora<nora@harbor.example> ,"o, p"@harbor.example'
  const answer = await send({ personalizations: [{ recipient: 'a@harbor.example', recipient_cc: list }] })
  const { deliveries } = await story(answer)
  t.strictSame(
    deliveries.map(({ recipient }) => recipient),
    ['a@harbor.example', 'lena@harbor.example', 'mina@harbor.example', 'nora@harbor.example', '"o, p"@harbor.example'],
  )
})

const LISTS: readonly (readonly [list: string, copies: readonly string[], names: readonly string[]])[] = [
  ['Doe, John <a@b.example>', ['a@b.example'], ['Doe, John']],
  ['Doe,John<a@b.example>', ['a@b.example'], ['Doe,John']],
  ['Doe, John, Jr. <a@b.example>', ['a@b.example'], ['Doe, John, Jr.']],
  ['"Doe, John" <a@b.example>, Doe, Jane <c@d.example>', ['a@b.example', 'c@d.example'], ['Doe, John', 'Doe, Jane']],
  ['a@b.example, Doe, Jane <c@d.example>,', ['a@b.example', 'c@d.example'], ['', 'Doe, Jane']],
  ['Doe, Jane <c@d.example>, a@b.example', ['c@d.example', 'a@b.example'], ['Doe, Jane', '']],
  ['Ümit, Şen <a@b.example>', ['a@b.example'], ['Ümit, Şen']],
  ['a@b.example, c@d.example', ['a@b.example', 'c@d.example'], ['', '']],
  ['a@b.example, Jane <c@d.example>', ['a@b.example', 'c@d.example'], ['', 'Jane']],
  ['a@b.example, <c@d.example>', ['a@b.example', 'c@d.example'], ['', '']],
]
for (const [list, addresses, names] of LISTS) {
  t.test(`the list ${list} has ${addresses.length === 1 ? 'one address' : 'two addresses'}`, async (t) => {
    const answer = await send({ personalizations: [{ recipient: 'to@harbor.example', recipient_cc: list }] })
    const all = await copies(answer, 1 + addresses.length)
    t.same(all.map(({ recipient }) => recipient).sort(), ['to@harbor.example', ...addresses].sort())
    t.match(all[0]?.mail.cc, { value: addresses.map((address, at) => ({ address, name: names[at] })) })
    const blind = await send({ personalizations: [{ recipient: 'to@harbor.example', recipient_bcc: list }] })
    t.equal((await story(blind)).deliveries.length, 1 + addresses.length)
    const byAccount = await send({ personalizations: [{ recipient: 'to@harbor.example' }], settings: { bcc: list } })
    t.equal((await story(byAccount)).deliveries.length, 1 + addresses.length)
  })
}

t.test('text before a comma is a recipient of its own if no name follows', async (t) => {
  for (const list of [
    'nobody, lena@harbor.example',
    'nobody, <lena@harbor.example>',
    'Lena <nobody>, Mina <lena@harbor.example>',
  ]) {
    const answer = await send({ personalizations: [{ recipient: 'to@harbor.example', recipient_cc: list }] })
    const { deliveries } = await story(answer)
    t.equal(deliveries.length, 3, list.slice(0, 60))
  }
})

t.test(
  'what holds no address in its brackets is an invalid recipient, as before, and the others are sent',
  async (t) => {
    const wrong = [
      'Lena <nobody>',
      'Lena <lena@harbor.example',
      'Lena lena@harbor.example>',
      '<>',
      'Lena <a@b.example> x',
      'Lena <a@b.example> <lena@harbor.example>',
      'a@b.example <lena@harbor.example>',
      'a@b.example, Lena <lena@harbor.example>',
      '"Lena" <a@b.example> "L" <lena@harbor.example>',
    ]
    for (const recipient of wrong) {
      const answer = await send({ personalizations: [{ recipient, recipient_cc: 'mina@harbor.example' }] })
      t.match((await story(answer)).deliveries, [{ state: 'dropped', reason: 'invalid' }, {}], recipient)
    }
  },
)

t.test('copies go out though the recipient is no address, without an empty To', async (t) => {
  const answer = await send({ personalizations: [{ recipient: 'no good', recipient_cc: 'mina@harbor.example' }] })
  const [copy] = await copies(answer)
  t.equal(copy?.recipient, 'mina@harbor.example')
  t.notOk(copy?.mail.headers.has('to'))
  t.match(copy?.mail.cc, { value: [{ address: 'mina@harbor.example' }] })
})

t.test('a quote within a word is no quote', async (t) => {
  const list = 'O"Neil <lena@harbor.example>, 5" disk <mina@harbor.example>, nora@harbor.example'
  const answer = await send({ personalizations: [{ recipient: 'a@harbor.example', recipient_cc: list }] })
  t.strictSame(
    (await story(answer)).deliveries.map(({ recipient }) => recipient),
    ['a@harbor.example', 'O"Neil <lena@harbor.example>', '5" disk <mina@harbor.example>', 'nora@harbor.example'],
  )
})

t.test('the address itself may stand for the name', async (t) => {
  const answer = await send({ personalizations: [{ recipient: 'Lena@harbor.example <lena@harbor.example>' }] })
  t.equal((await copies(answer))[0]?.recipient, 'lena@harbor.example')
})

t.test('one mailbox under two names is one copy', async (t) => {
  const element = { recipient: 'Lena <lena@harbor.example>', recipient_cc: ['L. Quay <LENA@harbor.example>'] }
  t.equal((await story(await send({ personalizations: [element] }))).deliveries.length, 1)
})

t.test('a name cannot break out of its place, nor grow without a bound', async (t) => {
  for (const name of ['a\r\nBcc: b', 'a\0', 'a'.repeat(5000)]) {
    const answer = await send({ personalizations: [{ recipient: `${name} <lena@harbor.example>` }] })
    t.match(answer, {
      status: 400,
      body: { error_info: { error_code: 113, error_message: /personalizations\[0\]\.recipient\]/ } },
    })
  }
})
