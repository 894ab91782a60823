import type { Submission, SubmissionDetails } from '@postrider/core'
import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { acceptMessage, envelopeTo } from '../submission.ts'

const service = await makeService(t)
const sender = await service.makeSender()
const HOUR = 3_600_000

/** A MIME message as the relay hands it in. */
function mime(type: string, body: string, extra: Partial<Submission> = {}): Partial<Submission> & SubmissionDetails {
  const text = `From: desk@${sender.domain}\r\nSubject: Berth 4\r\nContent-Type: ${type}\r\nContent-Transfer-Encoding: 8bit\r\n\r\n${body}\r\n`
  return {
    door: 'smtp',
    content: {
      kind: 'mime',
      pieces: [Buffer.from(text, 'latin1')],
      lacksDate: true,
      lacksMessageId: true,
      nullReturnPath: false,
      trace: { helo: 'x', address: '127.0.0.1', protocol: 'ESMTPSA' },
    },
    ...extra,
  }
}

/** The copy of the first recipient, octet for octet, below its header. */
async function rendered(messageId: string): Promise<string> {
  const uuid = messageId.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  const message = [...(await service.core.messages.load([uuid])).values()][0]
  if (!message) throw new Error('there is no such message')
  const delivery = { recipient: 'lena@harbor.example', recipientNo: 0, personal: null }
  const { octets } = await service.core.messages.render(message, delivery)
  return octets.toString('latin1').replace(/http:\/\/[^"<> ]+\/t\/([ocup])\/[\w-]+/g, '/$1/')
}

t.test('the words and tags of a message go into MIME in the charset its text is in', async (t) => {
  const settings = {
    openTracking: true,
    openTag: '«o»',
    unsubscribe: true,
    clickTracking: false,
    unsubscribeTexts: { html: 'Für <% immer %>', text: 'Für immer: <% %>' },
    footerTexts: { html: '<i>Größe [%A%]</i>', text: 'Größe [%A%]' },
    linkParameters: { utm_source: 'ship' },
  }
  const html = await acceptMessage(
    service,
    sender,
    mime('text/html; charset=iso-8859-1', '<p>\xfc \xabo\xbb</p><a href="http://q.example/">q</a>', { settings }),
  )
  t.match(
    await rendered(html.messageId),
    '<p>\xfc <img src="/o/" width="1" height="1" alt="" style="border:0"></p><a href="http://q.example/?utm_source=ship">q</a>' +
      '<i>Gr&#246;&#223;e [%A%]</i>F&#252;r <a href="/u/">immer</a>',
  )
  const octets = Buffer.from('<p>ü «o»</p>').toString('latin1')
  const html8 = await acceptMessage(service, sender, mime('text/html; charset=utf-8', octets, { settings }))
  t.match(
    await rendered(html8.messageId),
    `<p>${octets.slice(3, 6)}<img src="/o/"`,
    'a tag is looked for as the text writes it',
  )
  const plain = await acceptMessage(service, sender, mime('text/plain; charset=iso-8859-1', '\xfc', { settings }))
  t.match(await rendered(plain.messageId), '\xfc\r\n\r\nGr\xf6\xdfe [%A%]\r\n\r\nF\xfcr immer: /u/\r\n')
  const ascii = await acceptMessage(
    service,
    sender,
    mime('text/plain; charset=us-ascii', 'x', {
      settings: {
        ...settings,
        footerTexts: { text: '', html: '' },
        unsubscribeTexts: { text: 'Für 船 <% %>', tag: '船' },
      },
    }),
  )
  const utf8 = await rendered(ascii.messageId)
  t.match(utf8, /Content-Type: text\/plain; charset=utf-8\r\n/)
  t.match(Buffer.from(utf8, 'latin1').toString(), 'x\r\n\r\nFür 船 /u/\r\n')
})

t.test('what one envelope has for itself is held to the bounds of the whole', async (t) => {
  const to = (extra: object) => ({ door: 'v3' as const, envelopes: [envelopeTo('lena@harbor.example', extra)] })
  const refuse = (extra: object, message: RegExp) =>
    t.rejects(
      acceptMessage(service, sender, to(extra)),
      { errorName: 'parameterInvalid', message },
      JSON.stringify(extra),
    )
  await refuse({ from: { email: 'desk@elsewhere.example', name: '' } }, /domain/)
  await refuse({ from: { email: `a@${sender.domain}`, name: 'a\nb' } }, /CR, LF/)
  await refuse({ subject: 'a\r\nb' }, /CR, LF/)
  await refuse({ scheduledAt: new Date(Date.now() + 31 * 24 * HOUR) }, /at most 30 days/)
  await refuse({ names: new Map([['lena@harbor.example', 'a\0']]) }, /CR, LF/)
})

t.test('a paused batch is resumed with the times its envelopes have for themselves', async (t) => {
  const act = {
    accountId: sender.accountId,
    id: await service.core.batches.create(sender.accountId),
    by: { keyId: null, address: null },
  }
  await service.core.batches.hold(act, 'pause')
  const [first, second] = [new Date(Date.now() + HOUR), new Date(Date.now() + 2 * HOUR)]
  const { messageId } = await acceptMessage(service, sender, {
    batchId: act.id,
    scheduledAt: first,
    envelopes: [envelopeTo('a@harbor.example'), envelopeTo('b@harbor.example', { scheduledAt: second })],
  })
  await service.core.batches.resume(act)
  const story = await service.core.messages.show(messageId)
  t.strictSame(
    story?.deliveries.map(({ nextAt }) => nextAt?.getTime()),
    [first.getTime(), second.getTime()],
  )
})

t.test('a MIME message is sent to each when that envelope says', async (t) => {
  const second = new Date(Date.now() + 2 * HOUR)
  const envelopes = [envelopeTo('a@harbor.example'), envelopeTo('b@harbor.example', { scheduledAt: second })]
  const { messageId } = await acceptMessage(service, sender, mime('text/plain', 'x', { envelopes }))
  const story = await service.core.messages.show(messageId)
  t.match(story?.deliveries, [{ state: 'queued' }, { state: 'scheduled', nextAt: second }])
})
