import t from 'tap'
import { v2Body } from '../../helpers/send.ts'
import { makeService } from '../../helpers/service.ts'
import { call, errorText, FORM, messageIdOf, refused } from '../call.ts'

const service = await makeService(t)
const base = await service.openApi()
const sender = await service.makeSender()
const key = { api_key: sender.apiKey }
const send = (extra: Record<string, unknown>) => call(base, { headers: key, body: v2Body(sender, extra) })
const post = (path: string, body: Record<string, unknown>) => call(base, { path: `/v2${path}`, headers: key, body })
const template = await service.core.templates.create({
  accountId: sender.accountId,
  name: 'kept',
  content: '<p>[%A%]</p>',
})

t.test('null elements of every array of a send are skipped', async (t) => {
  const file = { fileName: 'a.txt', fileContent: 'YQ==' }
  const answer = await send({
    personalizations: [
      null,
      {
        recipient: 'lena@harbor.example',
        recipient_cc: [null, 'mina@harbor.example'],
        recipient_bcc: ['nora@harbor.example', null],
        attachments: [null, file, null],
        attributes: [null],
      },
      null,
    ],
    attachments: [file, null],
    tags: [null, 'berth', null],
    attachmentId: [null],
    settings: [null],
  })
  const story = await service.core.messages.show(messageIdOf(answer))
  t.strictSame(
    story?.deliveries.map(({ recipient }) => recipient),
    ['lena@harbor.example', 'mina@harbor.example', 'nora@harbor.example'],
  )
  t.strictSame(story?.tags, ['berth'])
})

t.test('a list of nothing but null is an empty one', async (t) => {
  refused(t, await send({ personalizations: [null, null, null] }), [400, 114])
  const form = `personalizations=${encodeURIComponent('[null]')}&from[fromEmail]=desk@${sender.domain}&subject=S&content=C`
  refused(t, await call(base, { headers: { ...key, ...FORM }, body: form }), [400, 114])
})

const PLACES: readonly (readonly [extra: Record<string, unknown>, parameter: string])[] = [
  [
    { personalizations: [null, { recipient: 'a@harbor.example' }, null, { recipient: 7 }] },
    'personalizations[3].recipient',
  ],
  [{ personalizations: [{ recipient: 'a@harbor.example' }, null, {}] }, 'personalizations[2].recipient'],
  [
    { personalizations: [null, { recipient: 'a@harbor.example', recipient_cc: [null, 'b@harbor.example', 7] }] },
    'personalizations[1].recipient_cc[2]',
  ],
  [
    { personalizations: [null, { recipient: 'a@harbor.example', attributes: { A: '\0' } }] },
    'personalizations[1].attributes.A',
  ],
  [{ attachments: [null, { fileName: 'a' }] }, 'attachments[1].fileContent'],
  [{ attachments: [null, { fileName: 'a/b', fileContent: 'YQ==' }] }, 'attachments[1].fileName'],
  [
    { personalizations: [null, { recipient: 'a@harbor.example', attachments: [null, { fileContent: 'YQ==' }] }] },
    'personalizations[1].attachments[1].fileName',
  ],
  [{ tags: ['a', null, 7] }, 'tags[2]'],
]
for (const [extra, parameter] of PLACES) {
  t.test(`a fault behind a null element is named by the place it was written at: ${parameter}`, async (t) => {
    const answer = await send(extra)
    refused(t, answer, [400, 113])
    t.ok(errorText(answer).startsWith(`Parameter [${parameter}] `), errorText(answer))
  })
}

/** Every list that another operation takes. */
const LISTS: readonly (readonly [path: string, body: Record<string, unknown>])[] = [
  ['/suppression', { email: [null, 'x@harbor.example'], domain: ['spam.example', null] }],
  ['/suppression/remove', { email: ['x@harbor.example', null] }],
  ['/getSuppression', { email: [null, 'x@harbor.example'] }],
  ['/template', { templateName: 'with variables', content: '<p>[%A%]</p>', variables: [null, { name: 'A' }] }],
  [`/template/${template.id}`, { content: '<p>[%B%]</p>', variables: [{ name: 'B' }, null] }],
  [
    '/keys',
    {
      name: 'nulls',
      scopes: [null, 'send'],
      networks: [null, '192.0.2.0/24'],
      restrictions: { templates: [null, template.id] },
    },
  ],
  ['/keys', { name: 'more nulls', scopes: ['send', null], restrictions: { sender_domains: [sender.domain, null] } }],
  ['/gdpr/forget', { email: [null, 'x@harbor.example'] }],
  ['/logs', { startdate: '2026-01-01', events: [null, 'open'] }],
  ['/events/feed', { types: [null, 'sent'] }],
  ['/stats/export/stream', { startdate: '2026-01-01', events: ['sent', null] }],
]
for (const [path, body] of LISTS) {
  t.test(`null elements are skipped by ${path}: ${JSON.stringify(body).slice(0, 60)}`, async (t) => {
    const answer = await post(path, body)
    t.equal(answer.status, 200, answer.text.slice(0, 200))
  })
}
t.test('a list of networks in which none is named leaves no key wider', async (t) => {
  for (const networks of [[null], [''], ' ', ',']) {
    const answer = await post('/keys', { name: 'k', scopes: ['send'], networks })
    t.match(answer, { status: 400, text: /networks/ }, JSON.stringify(networks))
  }
})

t.test('a fault of another operation is named by its place, too', async (t) => {
  const answer = await post('/template', { templateName: 'a', content: 'C', variables: [null, { name: 'A' }, {}] })
  t.match(errorText(answer), /^Parameter \[variables\[2\]\] /)
})
