import t from 'tap'
import { targetsIn } from '../../delivery/tracked.ts'
import { sendV2, v2Body } from '../../helpers/send.ts'
import { SmtpClient } from '../../helpers/smtp-client.ts'
import { until } from '../../helpers/until.ts'
import { type Copy, makeArrivals } from '../arrivals.ts'
import { call } from '../call.ts'
import { ask } from '../v3/ask.ts'
import { mailBody } from '../v3/mail.ts'
import { messageIdOf } from '../v3/mail-arrivals.ts'
import { GENERATED } from './generated-texts.ts'

const arrivals = await makeArrivals(t)
const { base, copies, deliver, sender, service } = arrivals
// Before its key is first used: settings are cached.
await service.sql`update accounts set generate_text = true, footer_text = 'Pier 2' where id = ${sender.accountId}`
const BARE = { opentrack: 0, clicktrack: 0, unsubscribe: 0, footer: 0 }

/** The text part of a copy; undefined if it has none. mailparser makes one of the HTML where there is none. */
function textOf({ mail, raw }: Copy): string | undefined {
  return /^Content-Type: text\/plain/m.test(raw) ? mail.text?.replace(/\n$/, '') : undefined
}

for (const [name, content, text] of GENERATED) {
  t.test(`HTML alone gets a text: ${name}`, async (t) => {
    const copy = await deliver({ content: encodeURIComponent(content), settings: BARE })
    t.equal(textOf(copy), text)
    t.equal(copy.mail.html, content.trimEnd().replace(/\r\n/g, '\n'))
  })
}

t.test('values of a recipient are read as the HTML that they are', async (t) => {
  const answer = await arrivals.send({
    content: '<p>Dear [%NAME%],</p>[%ROWS%]',
    personalizations: [
      { recipient: 'a@harbor.example', attributes: { NAME: 'Lena &amp; Mina', ROWS: '<ul><li>rope<li>saw</ul>' } },
      { recipient: 'b@harbor.example', attributes: { NAME: 'Ada', ROWS: '' } },
    ],
    settings: BARE,
  })
  t.strictSame((await copies(answer, 2)).map(textOf), ['Dear Lena & Mina,\n\n- rope\n- saw', 'Dear Ada,'])
})

t.test('a generated text gets footer, unsubscribe link and tracked links as a given one does', async (t) => {
  const links =
    '<a href="https://quay.example/a">one</a><br><a href="https://quay.example/secret" data-postrider-track="off">two</a>'
  const all = { opentrack: 1, clicktrack: 1, unsubscribe: 1, footer: 1 }
  const text = textOf(await deliver({ content: links, settings: all })) ?? ''
  t.match(
    text,
    /^one \(http\S+\/t\/c\/\S+\)\ntwo \(https:\/\/quay\.example\/secret\)\n\nPier 2\n\nUnsubscribe: http\S+\/t\/u\/\S+$/,
  )
  t.match(targetsIn(text), [{ kind: 'click', url: 'https://quay.example/a' }, { kind: 'unsubscribe' }])
  const own = await deliver({
    content: '<p>a</p><a href="[%UNSUBSCRIBE_URL%]">Leave</a>',
    settings: { ...all, footer: 0 },
  })
  t.match(textOf(own), /^a\n\nLeave \(http\S+\/t\/u\/[\w-]+\)$/)
})

t.test('an HTML without words has no text', async (t) => {
  const copy = await deliver({
    content: '<table><tr><td><img src="https://quay.example/a.png"></td></tr></table>',
    settings: BARE,
  })
  t.match(copy.raw, /^Content-Type: text\/html/m)
  t.notMatch(copy.raw, /multipart|text\/plain/)
})

t.test('a form gets a text, a call with a text keeps its own', async (t) => {
  const form = new URLSearchParams({ data: JSON.stringify(v2Body(sender, { content: '<p>a<p>b', settings: BARE })) })
  const body = form.toString()
  const headers = { api_key: sender.apiKey, 'content-type': 'application/x-www-form-urlencoded' }
  const answer = await call(base, { headers, body })
  const [copy] = await copies({ status: answer.status, body: answer.json as never, headers: new Headers() })
  t.equal(textOf(copy as Copy), 'a\n\nb')
  t.equal(textOf(await deliver({ content: '<p>a', textcontent: 'own', settings: BARE })), 'own')
})

t.test('an account may switch it off, and new ones have it', async (t) => {
  const fresh = await service.makeSender({ tracking: true })
  const shown = await call(base, { method: 'GET', path: '/v2/account', headers: { api_key: fresh.apiKey } })
  t.match(shown.json, { data: { generateText: true } })
  const sent = () => sendV2(base, fresh.apiKey, v2Body(fresh, { content: '<p>a</p>', settings: BARE }))
  const on = (await copies(await sent()))[0] as Copy
  t.equal(textOf(on), 'a')
  const off = await service.makeSender()
  const answer = await sendV2(base, off.apiKey, v2Body(off, { content: '<p>a</p>', settings: BARE }))
  t.equal(textOf((await copies(answer))[0] as Copy), undefined)
})

t.test('mail of v3 and of SMTP gets none', async (t) => {
  const id = messageIdOf(
    await ask(base, {
      path: '/mail/send',
      key: sender.apiKey,
      body: mailBody(sender, { content: [{ type: 'text/html', value: '<p>a' }] }),
    }),
  )
  const answer = {
    status: 200,
    body: { data: { message_id: id }, message: 'Success', error_info: null },
    headers: new Headers(),
  }
  t.equal(textOf((await copies(answer))[0] as Copy), undefined)
  await service.openRelay()
  const client = await SmtpClient.connect(t, { port: service.config.relayTlsPort, tls: true })
  await client.reply()
  await client.logIn(sender.apiKey)
  const from = `desk@${sender.domain}`
  await client.submit(
    from,
    'smtp@harbor.example',
    `From: ${from}\r\nSubject: s\r\nContent-Type: text/html\r\n\r\n<p>by SMTP</p>\r\n`,
  )
  const message = await until('the mail', () =>
    arrivals.sink.messages.find(({ to }) => to[0] === 'smtp@harbor.example'),
  )
  t.notMatch(message.data.toString(), /text\/plain/)
})
