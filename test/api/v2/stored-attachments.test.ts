import { createHash, randomBytes } from 'node:crypto'
import t from 'tap'
import { v2Body } from '../../helpers/send.ts'
import { makeArrivals } from '../arrivals.ts'
import { asForm, type CallAnswer, call, FORM, JSON_TYPE, refused as refusedSend } from '../call.ts'
import { accountCalls, refusedIn } from './account-calls.ts'

const { service, base, sender, send, copies, deliver } = await makeArrivals(t)
const { ask, data } = accountCalls(base, sender.apiKey)
const refused = refusedIn('Attachment')
const dataOf = <T>({ json }: CallAnswer) => json?.data as T

interface Stored {
  readonly attachmentId: number
  readonly fileName: string
  readonly size: number
}

const EVERY_OCTET = Buffer.from(Array.from({ length: 256 }, (_, octet) => octet))
const digest = (octets: Buffer) => createHash('sha256').update(octets).digest('hex')
const file = (fileName: string, content: Buffer) => ({ fileName, fileContent: content.toString('base64') })
const upload = (fileName: string, content: Buffer, caller = data) =>
  caller<Stored>('POST', '/attachment', file(fileName, content))
const form = (...files: readonly [name: string, content: Buffer, fileName: string][]) => {
  const form = new FormData()
  for (const [name, content, fileName] of files) form.append(name, new Blob([new Uint8Array(content)]), fileName)
  return form
}
const post = async (body: FormData) =>
  (
    await fetch(`${base}/v2/attachment`, { method: 'POST', headers: { api_key: sender.apiKey }, body })
  ).json() as Promise<Record<string, unknown>>
const sendWith = (attachmentId: unknown, extra: Record<string, unknown> = {}) =>
  call(base, { headers: { api_key: sender.apiKey }, body: v2Body(sender, { attachmentId, ...extra }) })

t.test(
  'a file uploaded once as JSON, as a form or as a part of one arrives octet for octet in every send',
  async (t) => {
    const json = await ask('POST', '/attachment', file('Grüße.bin', EVERY_OCTET))
    const { attachmentId } = dataOf<Stored>(json)
    t.strictSame(json.json, {
      data: {
        attachmentId,
        fileName: 'Grüße.bin',
        size: 256,
        createdAt: dataOf<Record<string, unknown>>(json).createdAt,
      },
      message: 'Success',
      error_info: null,
    })
    const fields = asForm(file('form.bin', EVERY_OCTET))
    const second = await data<Stored>('POST', '/attachments', fields, FORM)
    const part = (await post(form(['file', EVERY_OCTET, 'part.bin']))).data as Stored
    t.match(part, { fileName: 'part.bin', size: 256 })
    for (const named of [
      { attachmentId: [part.attachmentId, attachmentId, second.attachmentId] },
      { settings: { attachmentid: `${attachmentId},${part.attachmentId}` }, attachmentid: String(second.attachmentId) },
    ]) {
      const { mail } = await deliver(named)
      t.strictSame(mail.attachments.map(({ filename }) => filename).sort(), ['Grüße.bin', 'form.bin', 'part.bin'])
      for (const { content } of mail.attachments) t.strictSame(content, EVERY_OCTET)
    }
  },
)

t.test('a large file beside small ones arrives whole', async (t) => {
  const [large, small] = [randomBytes(5_000_003), randomBytes(1000)]
  const ids = [
    await upload('large.bin', large),
    await upload('small.bin', small),
    await upload('empty.txt', Buffer.from('e')),
  ]
  const { mail } = await deliver({ attachmentId: ids.map(({ attachmentId }) => attachmentId) })
  const arrived = new Map(mail.attachments.map(({ filename, content }) => [filename, digest(content)]))
  t.strictSame([arrived.size, arrived.get('large.bin'), arrived.get('small.bin')], [3, digest(large), digest(small)])
})

t.test('a message that was accepted keeps a file that is deleted afterwards', async (t) => {
  const { attachmentId } = await upload('plan.txt', Buffer.from('the plan'))
  const schedule = new Date(Date.now() + 86_400_000).toISOString()
  const late = await send({ attachmentId, schedule })
  const answer = await ask('DELETE', `/attachment/${attachmentId}`)
  t.strictSame(answer.json, { data: {}, message: 'Success', error_info: null })
  refusedSend(t, await sendWith(attachmentId), [400, 119, 'Invalid attachmentId'])
  await service.sql`update delivery_queue set state = 'queued', next_at = service_now() where state = 'scheduled'`
  const [copy] = await copies(late)
  t.match(copy?.mail.attachments, [{ filename: 'plan.txt', content: Buffer.from('the plan') }])
})

t.test('files are listed a page at a time, oldest first, and gone ones are not', async (t) => {
  const own = accountCalls(base, (await service.makeSender()).apiKey)
  const ids: number[] = []
  for (let at = 0; at < 12; at++) ids.push((await upload(`f${at}.txt`, Buffer.alloc(at + 1), own.data)).attachmentId)
  const idsOf = (answer: CallAnswer) => dataOf<Stored[]>(answer).map(({ attachmentId }) => attachmentId)
  const first = await own.ask('GET', '/attachment')
  t.strictSame([idsOf(first), first.json?.totalRecords], [ids.slice(0, 10), 12])
  t.match(dataOf<Stored[]>(first)[1], { fileName: 'f1.txt', size: 2, createdAt: /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/ })
  t.strictSame(idsOf(await own.ask('GET', '/attachments?limit=100&offset=9')), ids.slice(9))
  await own.data('POST', '/deleteAttachment', { attachmentId: ids[0] })
  const left = await own.ask('POST', '/getAttachments', asForm({ limit: 2 }), FORM)
  t.strictSame([idsOf(left), left.json?.totalRecords], [ids.slice(1, 3), 11])
})

t.test('X119: an invalid, unknown or deleted id is rejected, here and in a send', async (t) => {
  const { attachmentId } = await upload('x.txt', Buffer.from('x'))
  await data('DELETE', `/attachments/${attachmentId}`)
  for (const id of [attachmentId, 999_999, 'abc', '-1', '1.5', '99999999999']) {
    refused(t, await ask('DELETE', `/attachment/${id}`), [119, 'Invalid attachmentId'], String(id))
    refused(t, await ask('POST', '/deleteAttachment', { attachmentId: id }), [119], String(id))
    refusedSend(t, await sendWith(String(id)), [400, 119], String(id))
  }
  refused(t, await ask('DELETE', '/attachment/0'), [119])
  refused(t, await ask('POST', '/deleteAttachment', {}), [110])
})

const GOOD = { fileName: 'a.txt', fileContent: 'YQ==' }
t.test('an invalid file is rejected with its parameter, as in a send', async (t) => {
  for (const [bad, parameter] of [
    [{ fileContent: 'YQ==' }, 'fileName'],
    [{ ...GOOD, fileName: '' }, 'fileName'],
    [{ ...GOOD, fileName: ' \t' }, 'fileName'],
    [{ ...GOOD, fileName: null }, 'fileName'],
    [{ ...GOOD, fileName: 5 }, 'fileName'],
    [{ ...GOOD, fileName: '../../etc/passwd' }, 'fileName'],
    [{ ...GOOD, fileName: 'a\r\nb' }, 'fileName'],
    [{ ...GOOD, fileName: 'a\0' }, 'fileName'],
    [{ ...GOOD, fileName: 'exe\u202efdp.exe' }, 'fileName'],
    [{ ...GOOD, fileName: 'a'.repeat(256) }, 'fileName'],
    [{ ...GOOD, fileName: '\ud800.txt' }, 'fileName'],
    [{ fileName: 'a' }, 'fileContent'],
    [{ ...GOOD, fileContent: '' }, 'fileContent'],
    [{ ...GOOD, fileContent: '<p>hi</p>' }, 'fileContent'],
    [{ ...GOOD, fileContent: Buffer.alloc(20_480_001).toString('base64') }, 'fileContent'],
  ] as const) {
    const answer = await ask('POST', '/attachment', JSON.stringify(bad), JSON_TYPE)
    refused(t, answer, [113, new RegExp(`^Parameter \\[${parameter}\\] `)], JSON.stringify(bad).slice(0, 50))
  }
  for (const body of ['', '{}']) refused(t, await ask('POST', '/attachment', body, JSON_TYPE), [110])
  const two = form(['a', EVERY_OCTET, 'a.bin'], ['b', EVERY_OCTET, 'b.bin'])
  t.match(await post(two), { error_info: { error_code: 113, error_message: /one file/ } })
  t.match(await post(form(['a', EVERY_OCTET, 'a\r\nb'])), { error_info: { error_code: 113 } })
})

t.test('a file of 20,480,000 octets can be stored and sent, but two of them exceed a message', async (t) => {
  const caller = await service.makeSender()
  const own = accountCalls(base, caller.apiKey)
  const ids = [
    await upload('1.bin', Buffer.alloc(20_480_000), own.data),
    await upload('2.bin', Buffer.alloc(20_480_000), own.data),
  ].map(({ attachmentId }) => attachmentId)
  const attempt = (extra: Record<string, unknown>) =>
    call(base, { headers: { api_key: caller.apiKey }, body: v2Body(caller, extra) })
  refusedSend(t, await attempt({ attachmentId: ids }), [413, 121, 'Payload must not exceed 30 MB'])
  const own12 = [file('own.bin', Buffer.alloc(12_000_000))]
  refusedSend(t, await attempt({ attachmentId: ids[0], attachments: own12 }), [413, 121])
  const personal = [{ recipient: 'lena@harbor.example', attachments: own12 }]
  refusedSend(t, await attempt({ attachmentId: ids[0], personalizations: personal }), [413, 121])
  t.equal((await attempt({ attachmentId: [ids[0], ids[0]] })).status, 200, 'named twice it is one')
})

t.test('the audit log tells names, sizes and digests of files, and never what is in them', async (t) => {
  const content = Buffer.from('a secret plan')
  const { attachmentId } = await upload('noted.txt', content)
  await data('DELETE', `/attachment/${attachmentId}`)
  const entries = (await data<Record<string, unknown>[]>('POST', '/audit', { limit: 1000 })).filter(
    ({ object }) => object === `attachment ${attachmentId}`,
  )
  const told = { fileName: 'noted.txt', size: 13, sha256: digest(content) }
  t.match(entries, [
    { action: 'attachment.create', before: null, after: told, keyId: Number },
    { action: 'attachment.delete', before: told, after: null },
  ])
  t.notMatch(JSON.stringify(entries), new RegExp(`secret|${content.toString('base64')}`))
})

t.test('verbs no attachment takes are 405, and a key for sending may not upload', async (t) => {
  for (const [method, path] of [
    ['PUT', '/attachment'],
    ['GET', '/attachment/1'],
    ['GET', '/deleteAttachment'],
  ] as const) {
    t.match(await ask(method, path), { status: 405 }, `${method} ${path}`)
  }
  const { secret } = await service.core.auth.createKey({ accountId: sender.accountId, scopes: ['send'] })
  t.match(await accountCalls(base, secret).ask('POST', '/attachment', GOOD), {
    status: 403,
    json: { error_info: { error_code: 103 } },
  })
})
