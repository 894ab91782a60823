import t from 'tap'
import { matches, readSearch } from '../../packages/sandbox/src/search/read-search.ts'
import { mail, startSandbox } from './sandbox.ts'

const sandbox = await startSandbox(t)

interface List {
  readonly messages: readonly { readonly ID: string; readonly Subject: string }[]
  readonly messages_count: number
}

const ask = (query: string, more = '') =>
  fetch(`${sandbox.url}/api/v1/search?query=${encodeURIComponent(query)}${more}`)
const found = async (query: string, more = '') => {
  const { messages, messages_count } = (await (await ask(query, more)).json()) as List
  t.equal(messages_count, messages.length, query)
  return messages.map(({ Subject }) => Subject).sort()
}

const invoice = await sandbox.store(
  t,
  'From: Billing <billing@shop.example>\r\nTo: Lena <lena@harbor.example>\r\nCc: copy@harbor.example\r\nSubject: Invoice 17\r\n' +
    'Message-ID: <inv-17@shop.example>\r\nReply-To: help@shop.example\r\nX-Tags: money, Shop 1\r\nMIME-Version: 1.0\r\n' +
    'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>Please pay the amount due</p>\r\n' +
    '--b\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename="i.pdf"\r\n\r\n%PDF\r\n--b--\r\n',
)
await sandbox.store(
  t,
  mail('Subject: Reset', `Follow the link to choose a new password.\r\n${'x'.repeat(70)}\r\n`.repeat(40)),
  'piet@dock.example',
)

t.test('a search finds what each of its words and fields asks for, and excludes what follows a minus', async (t) => {
  const rows: readonly (readonly [query: string, subjects: readonly string[]])[] = [
    ['invoice', ['Invoice 17']],
    ['"amount due"', ['Invoice 17']],
    ['amount -due', []],
    ['-invoice', ['Reset']],
    ['!invoice', ['Reset']],
    ['"new password"', ['Reset']],
    ['from:billing', ['Invoice 17']],
    ['from:desk@ship.example -from:billing', ['Reset']],
    ['to:lena@harbor.example', ['Invoice 17', 'Reset']],
    ['to:piet@dock.example', ['Reset']],
    ['cc:copy', ['Invoice 17']],
    ['bcc:piet', ['Reset']],
    ['reply-to:help@shop.example', ['Invoice 17']],
    ['addressed:help@shop', ['Invoice 17']],
    ['subject:"invoice 17"', ['Invoice 17']],
    ['message-id:inv-17@shop.example', ['Invoice 17']],
    ['message-id:<inv-17@shop.example>', ['Invoice 17']],
    ['tag:"shop 1"', ['Invoice 17']],
    ['-tag:money', ['Reset']],
    ['is:tagged', ['Invoice 17']],
    ['has:attachment', ['Invoice 17']],
    ['has:attachments -has:html', []],
    ['-has:attachment', ['Reset']],
    ['has:inline', []],
    ['larger:2kB', ['Reset']],
    ['smaller:0.002MB', ['Invoice 17']],
    ['-larger:2kb', ['Invoice 17']],
    ['after:1h', ['Invoice 17', 'Reset']],
    ['after:yesterday before:2100-01-01', ['Invoice 17', 'Reset']],
    ['before:2020/01/01', []],
    ['-before:2020-01-01T10:00Z', ['Invoice 17', 'Reset']],
    ['Re: berth', []],
  ]
  for (const [query, subjects] of rows) t.strictSame(await found(query), subjects, query)
})

t.test('what was read is found as read, and can be unread again', async (t) => {
  t.strictSame(await found('is:unread'), ['Invoice 17', 'Reset'])
  await fetch(`${sandbox.url}/view/${invoice.id}`)
  t.strictSame(await found('is:read'), ['Invoice 17'])
  t.strictSame(await found('-is:read'), ['Reset'])
})

t.test('a day of a search is that of the time zone of the call', async (t) => {
  const now = new Date(invoice.receivedAt)
  const day = (zone: string) => new Intl.DateTimeFormat('sv-SE', { timeZone: zone }).format(now)
  // One of them is on another day than the other, at any hour.
  const [early, late] = ['Pacific/Kiritimati', 'Pacific/Pago_Pago'] as const
  t.not(day(early), day(late))
  t.strictSame(await found(`after:${day(early)}`, `&tz=${late}`), [], 'tomorrow')
  t.strictSame(await found(`after:${day(late)}`, `&tz=${late}`), ['Invoice 17', 'Reset'])
})

t.test('what means nothing is refused, and nothing is deleted for it', async (t) => {
  for (const query of [
    'before:soon',
    'larger:much',
    'is:blue',
    'has:wings',
    'subject:',
    'x'.repeat(201),
    'a '.repeat(21),
  ]) {
    const answer = await ask(query)
    t.equal(answer.status, 400, query)
    t.match(await answer.text(), /^query: "/)
    const path = `/api/v1/search?query=${encodeURIComponent(query)}`
    t.equal((await fetch(`${sandbox.url}${path}`, { method: 'DELETE' })).status, 400)
  }
  t.match(await (await ask('from:a', '&tz=Nowhere')).text(), /^tz: /)
  t.equal((await sandbox.list()).length, 2)
  const page = await (await fetch(`${sandbox.url}/?q=before%3Asoon`)).text()
  t.match(page, '“before:soon” means nothing to the search.')
})

t.test('searches at the same time all have the texts of what they found', async (t) => {
  const words = ['one', 'two', 'three', 'four']
  for (const word of words) await sandbox.store(t, mail(`Subject: At once ${word}`))
  const answers = await Promise.all(words.map(async (word) => (await ask(`"at once ${word}"`)).json()))
  for (const answer of answers) t.match(answer, { messages: [{ Snippet: 'It works.' }] })
})

t.test('addresses of a message are collected once, however many words a search has', (t) => {
  let reads = 0
  const from = { name: 'Desk', address: 'desk@ship.example' }
  const head = {
    from,
    cc: [],
    replyTo: [],
    messageId: '',
    get to() {
      reads++
      return [from]
    },
  }
  const entry = { id: '1', from: '', to: '', subject: 'Berth', receivedAt: '', message: '1', size: 1, head }
  const candidate = { message: '1', entries: [entry], digest: undefined, isRead: false, tags: [] } as const
  const readsOf = (query: string) => {
    const before = reads
    matches(readSearch(query, { now: new Date(0), timeZone: 'UTC' }), candidate)
    return reads - before
  }
  const most = Array.from({ length: 10 }, (_, at) => `-w${at} -to:w${at}`).join(' ')
  t.equal(readsOf(most), readsOf('-w -to:w'))
  t.end()
})
