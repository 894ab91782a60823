import t from 'tap'
import { makeQueue } from '../../core/delivery/queue-of.ts'
import { acceptMessage, envelopeTo } from '../../core/submission.ts'
import { call, errorText } from '../call.ts'

interface Text {
  readonly text: string
  readonly size: number
  readonly cut: boolean
}
interface Body {
  readonly recipient: string
  readonly html: Text | null
  readonly text: Text | null
  readonly source: Text
  readonly headers: readonly { readonly name: string; readonly value: string }[]
  readonly attachments: readonly Record<string, unknown>[]
}

async function makeBody(t: Parameters<typeof makeQueue>[0]) {
  const queue = await makeQueue(t)
  const url = await queue.service.openApi()
  const { apiKey } = queue.sender
  const get = (path: string, key = apiKey) =>
    call(url, { method: 'GET', path: `/v2/messages/${path}`, headers: { api_key: key } })
  const body = async (id: string, query = ''): Promise<Body> => {
    const { status, json, text } = await get(`${id}/body${query}`)
    if (status !== 200) throw new Error(text)
    return json?.data as Body
  }
  return { ...queue, get, body }
}

t.test('the body of a message is shown as one recipient reads it, without pixel and tracked links', async (t) => {
  const { service, sender, get, body } = await makeBody(t)
  const { messageId } = await acceptMessage(service, sender, {
    content: {
      kind: 'parts',
      html: '<p>Dear [%NAME%], <a href="https://ship.example/b">berth</a></p>',
      text: 'Dear [%NAME%]',
      amp: undefined,
    },
    settings: { openTracking: true, clickTracking: true },
    attachments: [
      { fileName: 'Plan "ä".pdf', type: 'application/pdf', content: Buffer.from('%PDF-1.7') },
      {
        fileName: 'a.png',
        type: 'image/png',
        content: Buffer.from([0, 255, 10]),
        disposition: 'inline',
        contentId: 'logo',
      },
    ],
    envelopes: [
      envelopeTo('lena@harbor.example', { attributes: { NAME: 'Lena' } }),
      envelopeTo('nils@harbor.example', { attributes: { NAME: 'Nils' } }),
    ],
  })
  const shown = await body(messageId)
  t.equal(shown.recipient, 'lena@harbor.example')
  t.match(shown.html, { text: /^<p>Dear Lena, <a href="https:\/\/ship\.example\/b">berth<\/a><\/p>\s*$/, cut: false })
  t.match(shown.text, { text: /^Dear Lena\s*$/, cut: false })
  t.notMatch(shown.source.text, /\/t\//, 'nothing in it counts an open or a click')
  t.match(shown.headers.find(({ name }) => name === 'To')?.value, /lena@harbor\.example/)
  t.match(shown.headers.find(({ name }) => name === 'Subject')?.value, 'Berth 4')
  t.match(shown.attachments, [
    { index: 0, fileName: 'Plan "ä".pdf', type: 'application/pdf', size: 8, inline: false },
    { index: 1, fileName: 'a.png', type: 'image/png', size: 3, inline: true, contentId: 'logo' },
  ])
  t.match(await body(messageId, '?recipient_no=1'), { recipient: 'nils@harbor.example', text: { text: /Dear Nils/ } })

  const file = await get(`${messageId}/attachments/0`)
  t.match(file, { status: 200, text: '%PDF-1.7' })
  t.match(file.headers, {
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename="Plan____.pdf"; filename*=UTF-8''Plan%20%22%C3%A4%22.pdf`,
    'x-content-type-options': 'nosniff',
  })
  const source = await get(`${messageId}/source`)
  t.match(source.headers, {
    'content-type': 'message/rfc822',
    'content-disposition': /^attachment; filename="[0-9a-f]{32}\.eml"$/,
  })
  t.equal(source.text, shown.source.text)
  for (const path of [`${messageId}/attachments/2`, `${messageId}/body?recipient_no=2`, `${'0'.repeat(32)}/body`]) {
    t.equal((await get(path)).status, 404, path)
  }
  t.equal((await get(`${messageId}/attachments/-1`)).status, 400)
})

t.test('a large message is shown in part, and downloaded whole', async (t) => {
  const { service, sender, get, body } = await makeBody(t)
  const text = 'Grüße. '.repeat(80_000)
  const { messageId } = await acceptMessage(service, sender, {
    content: { kind: 'parts', html: undefined, text, amp: undefined },
  })
  const shown = await body(messageId)
  t.equal(shown.text?.cut, true)
  t.equal(Buffer.byteLength(shown.text?.text ?? '') <= 256 * 1024, true)
  t.ok((shown.text?.size ?? 0) >= Buffer.byteLength(text) - 2)
  t.notMatch(shown.text?.text, /\ufffd/, 'no character is cut in two')
  t.equal(shown.source.cut, true)
  t.equal((await get(`${messageId}/source`)).text.length, shown.source.size)
})

t.test('a body needs the scope content, is gone after its retention period, and is never sent altered', async (t) => {
  const { service, core, sender, get } = await makeBody(t)
  const { messageId } = await acceptMessage(service, sender, {
    attachments: [{ fileName: 'a.txt', content: Buffer.from('a') }],
  })
  const scopes = ['send', 'events', 'stats', 'suppressions', 'webhooks', 'account', 'templates', 'keys'] as const
  const support = await core.auth.createKey({ accountId: sender.accountId, scopes })
  for (const path of ['body', 'source', 'attachments/0']) {
    const answer = await get(`${messageId}/${path}`, support.secret)
    t.equal(answer.status, 403, path)
    t.notMatch(answer.text, /berth/)
  }
  const reader = await core.auth.createKey({ accountId: sender.accountId, scopes: ['content'] })
  t.equal((await get(`${messageId}/body`, reader.secret)).status, 200)
  await service.sql`update bodies set content = '{}' where part = 0`
  const damaged = await get(`${messageId}/body`)
  t.same(
    [damaged.status, errorText(damaged)],
    [410, 'The body of the message cannot be read: the stored body of this message was changed after it was accepted'],
  )
  await service.sql`delete from bodies`
  const gone = await get(`${messageId}/body`)
  t.same([gone.status, errorText(gone)], [410, 'The body of the message is no longer stored'])
  const refused = await core.messages
    .body({ accountId: sender.accountId, messageId, recipientNo: 0 })
    .catch((error: Error) => error)
  t.match(refused, { errorName: 'messageBodyGone', reason: 'the stored body of this message is missing' })
  t.notOk((refused as Error).cause, 'which is no fault, so no stack of it is logged')
})
