import { createHash } from 'node:crypto'
import { MailpitClient } from 'mailpit-api'
import t from 'tap'
import { mail, startSandbox } from '../sandbox.ts'

// The client as it is published, of which only the URL is ours.
const sandbox = await startSandbox(t)
const mailpit = new MailpitClient(sandbox.url)

t.beforeEach(() => mailpit.deleteMessages())

const ORDER =
  'From: "Ship Desk" <desk@ship.example>\r\nTo: Lena <lena@harbor.example>, piet@harbor.example\r\nCc: copy@harbor.example\r\n' +
  'Reply-To: help@ship.example\r\nSubject: Order 7\r\nMessage-ID: <o7@ship.example>\r\nDate: Mon, 30 Nov 2026 08:00:00 +0100\r\n' +
  'X-Order: 1\r\nX-Order: 2\r\nList-Unsubscribe: <mailto:out@ship.example>,\r\n <https://ship.example/u/1>\r\n' +
  'List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=b\r\n\r\n' +
  '--b\r\nContent-Type: text/html\r\n\r\n<p>Thank you</p><img src="cid:logo"><video></video>\r\n' +
  '--b\r\nContent-Type: image/png; name="logo.png"\r\nContent-ID: <logo>\r\nContent-Disposition: inline\r\n\r\nPNG\r\n' +
  '--b\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename="o.pdf"\r\n\r\n%PDF\r\n--b--\r\n'

t.test('a message is waited for, and read with its addresses, parts and header', async (t) => {
  const waiting = mailpit.waitForMessage({ query: 'subject:"Order 7"' }, { timeout: 60_000, interval: 20 })
  const client = await sandbox.session(t)
  await client.submit(
    'bounces@ship.example',
    ['lena@harbor.example', 'piet@harbor.example', 'hidden@harbor.example'],
    ORDER,
  )
  const message = await waiting
  t.match(message, {
    MessageID: 'o7@ship.example',
    From: { Name: 'Ship Desk', Address: 'desk@ship.example' },
    To: [
      { Name: 'Lena', Address: 'lena@harbor.example' },
      { Name: '', Address: 'piet@harbor.example' },
    ],
    Cc: [{ Name: '', Address: 'copy@harbor.example' }],
    Bcc: [{ Name: '', Address: 'hidden@harbor.example' }],
    ReplyTo: [{ Name: '', Address: 'help@ship.example' }],
    ReturnPath: 'bounces@ship.example',
    Subject: 'Order 7',
    Date: '2026-11-30T07:00:00.000Z',
    Tags: [],
    Size: ORDER.length,
    ListUnsubscribe: { Links: ['mailto:out@ship.example', 'https://ship.example/u/1'], Errors: '' },
  })
  t.match(message.HTML, '<img src="cid:logo">')
  t.match(message.Text, 'Thank you')
  t.match(message.Attachments, [{ FileName: 'o.pdf', ContentType: 'application/pdf', Size: 4, PartID: '2' }])
  t.match(message.Inline, [{ FileName: 'logo.png', ContentType: 'image/png', ContentID: 'logo' }])
  t.equal(message.Attachments[0]?.Checksums.SHA256, createHash('sha256').update('%PDF').digest('hex'))
  const part = await mailpit.getMessageAttachment(message.ID, '2')
  t.strictSame([part.type, await part.text()], ['application/pdf', '%PDF'])
  t.equal(await mailpit.getMessageSource(message.ID), ORDER)
  const headers = await mailpit.getMessageHeaders()
  t.match(headers, { 'X-Order': ['1', '2'], 'Message-Id': ['<o7@ship.example>'], 'Mime-Version': ['1.0'] })
  t.strictSame(Object.keys(headers), Object.keys(headers).sort())
  t.match(await mailpit.renderMessageHTML(), /<p>Thank you<\/p><img src="\/view\/[0-9a-f]{32}\/attachments\/0">/)
  t.match(await mailpit.renderMessageText(message.ID), 'Thank you')
})

t.test('messages are listed by page, the newest first, one for all its recipients', async (t) => {
  const client = await sandbox.session(t)
  await client.submit('a@b.example', ['one@harbor.example', 'two@harbor.example'], mail('Subject: First'))
  await client.submit('a@b.example', 'one@harbor.example', mail('Subject: Second'))
  const all = await mailpit.listMessages()
  t.match(all, { total: 2, unread: 2, count: 2, messages_count: 2, messages_unread: 2, start: 0, tags: [] })
  t.strictSame(
    all.messages.map(({ Subject, Read, Snippet, Attachments }) => [Subject, Read, Snippet, Attachments]),
    [
      ['Second', false, 'It works.', 0],
      ['First', false, 'It works.', 0],
    ],
  )
  t.strictSame(
    (await mailpit.listMessages(1, 1)).messages.map(({ Subject }) => Subject),
    ['First'],
  )
  t.equal((await mailpit.searchMessages({ query: 'to:two@harbor.example' })).messages_count, 1)
  t.equal((await mailpit.waitForMessages({ query: 'subject:First', count: 1 })).messages_count, 1)
})

t.test('messages are marked as read, by ids, by a search and all', async (t) => {
  const first = await sandbox.store(t, mail('Subject: First'))
  await sandbox.store(t, mail('Subject: Second'))
  const unread = async () => (await mailpit.getInfo()).Unread
  t.equal(await unread(), 2)
  t.equal(await mailpit.setReadStatus({ IDs: [first.id], Read: true }), 'ok')
  t.equal(await unread(), 1)
  await mailpit.setReadStatus({ Search: 'subject:First' })
  t.equal(await unread(), 2)
  await mailpit.setReadStatus({ Read: true })
  t.equal(await unread(), 0)
  await mailpit.setReadStatus()
  await mailpit.getMessageSummary()
  t.equal(await unread(), 1, 'a message that was fetched was read')
})

t.test('tags are set, renamed and deleted', async (t) => {
  const { id } = await sandbox.store(t, mail('Subject: Tagged'))
  await mailpit.setTags({ IDs: [id], Tags: ['two', 'One <b>', 'two'] })
  t.strictSame(await mailpit.getTags(), ['One b', 'two'])
  t.strictSame((await mailpit.getInfo()).Tags, { 'One b': 1, two: 1 })
  await mailpit.renameTag('One b', 'Three')
  t.strictSame((await mailpit.getMessageSummary(id)).Tags, ['two', 'Three'])
  await mailpit.deleteTag('two')
  t.strictSame(await mailpit.getTags(), ['Three'])
  await mailpit.setTags({ IDs: [id] })
  t.strictSame(await mailpit.getTags(), [])
})

t.test('messages are deleted by ids, by a search and all', async (t) => {
  const first = await sandbox.store(t, mail('Subject: First'))
  for (const subject of ['Second', 'Third', 'Fourth']) await sandbox.store(t, mail(`Subject: ${subject}`))
  await mailpit.deleteMessages({ IDs: [first.id, 'none'] })
  await mailpit.deleteMessagesBySearch({ query: '-subject:Third subject:r' })
  t.strictSame(
    (await mailpit.listMessages()).messages.map(({ Subject }) => Subject),
    ['Third', 'Second'],
  )
  await mailpit.deleteMessages()
  t.equal((await mailpit.getInfo()).Messages, 0)
  await t.rejects(mailpit.getMessageSummary(), /404/)
})

t.test('a message that a test describes is put into the inbox', async (t) => {
  const { ID } = await mailpit.sendMessage({
    From: { Email: 'desk@ship.example', Name: 'Desk' },
    To: [{ Email: 'lena@harbor.example' }],
    Bcc: ['hidden@harbor.example'],
    Subject: 'Described',
    Text: 'Plain',
    HTML: '<b>Bold</b>',
    Headers: { 'X-Order': '7' },
    Tags: ['made'],
    Attachments: [{ Filename: 'a.txt', Content: Buffer.from('attached').toString('base64') }],
  })
  const message = await mailpit.getMessageSummary(ID)
  t.match(message, {
    Subject: 'Described',
    HTML: '<b>Bold</b>',
    Tags: ['made'],
    Bcc: [{ Address: 'hidden@harbor.example' }],
  })
  t.match(message.Text, 'Plain')
  t.equal(await (await mailpit.getMessageAttachment(ID, '1')).text(), 'attached')
  t.strictSame((await mailpit.getMessageHeaders(ID))['X-Order'], ['7'])
})

t.test('HTML is compared with what mail programs support', async (t) => {
  await sandbox.store(t, ORDER)
  const { Total, Warnings, Platforms } = await mailpit.htmlCheck()
  const video = Warnings.find(({ Slug }) => Slug === 'html-video')
  t.match(video, { Category: 'html', URL: 'https://www.caniemail.com/features/html-video/', Score: { Found: 1 } })
  t.ok(video?.Results.some(({ Family, Support }) => Family === 'Gmail' && Support === 'no'))
  t.ok(Total.Supported > 0 && Total.Supported < 100 && Total.Nodes === 3)
  t.ok(Platforms.ios?.includes('Apple Mail'))
  await sandbox.store(t, mail('Subject: Inline\r\nContent-Type: text/html', '<p style="padding-inline: 1em">a</p>'))
  const [padding] = (await mailpit.htmlCheck()).Warnings
  t.equal(padding?.Slug, 'css-padding-inline-block')
  const apple = padding?.Results.find(({ Platform, Family }) => Platform === 'ios' && Family === 'Apple Mail')
  t.equal(apple?.Version, '15', 'the latest that was tested, also after 11.4')
})

t.test('what the inbox does not do says why', async (t) => {
  await sandbox.store(t, mail('Subject: Plain', 'https://ship.example/\r\n'))
  await t.rejects(mailpit.linkCheck(), /403 .*SANDBOX_REQUESTS=allow/)
  await t.rejects(mailpit.releaseMessage('latest', { To: ['a@b.example'] }), /403 .*SANDBOX_RELAY_URL/)
  await t.rejects(mailpit.htmlCheck(), /400 .*does not contain HTML/)
  await t.rejects(mailpit.spamAssassinCheck(), /400/)
  await t.rejects(mailpit.getChaosTriggers(), /400 .*the recipient selects a failure/)
  t.match(await mailpit.getConfiguration(), {
    MessageRelay: { Enabled: false },
    SpamAssassin: false,
    ChaosEnabled: false,
  })
})
