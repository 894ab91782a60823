import t from 'tap'
import { v2Body } from '../../helpers/send.ts'
import { makeService } from '../../helpers/service.ts'
import { call, errorText, refused } from '../call.ts'

const service = await makeService(t)
const base = await service.openApi()
const sender = await service.makeSender()
const key = { api_key: sender.apiKey }
const body = v2Body(sender)

const one = (element: Record<string, unknown>) => ({
  personalizations: [{ recipient: 'a@harbor.example', ...element }],
})
const WRONG: readonly (readonly [extra: Record<string, unknown>, parameter: string])[] = [
  [{ personalizations: ['a@harbor.example'] }, 'personalizations[0]'],
  [{ personalizations: [{ recipient: ['a@harbor.example'] }] }, 'personalizations[0].recipient'],
  [{ personalizations: [{ recipient: 'a@harbor.example' }, { recipient: 7 }] }, 'personalizations[1].recipient'],
  [{ personalizations: [{ recipient: 'a@harbor.example' }, {}] }, 'personalizations[1].recipient'],
  [one({ recipient_cc: { a: 'b' } }), 'personalizations[0].recipient_cc'],
  [one({ recipient_cc: ['a@harbor.example', 7] }), 'personalizations[0].recipient_cc[1]'],
  [one({ recipient_bcc: 7 }), 'personalizations[0].recipient_bcc'],
  [one({ 'x-apiheader': ['a'] }), 'personalizations[0].x-apiheader'],
  [one({ 'x-apiheader': 'a'.repeat(256) }), 'personalizations[0].x-apiheader'],
  [one({ 'x-apiheader_cc': { a: 1 } }), 'personalizations[0].x-apiheader_cc'],
  [one({ attributes: 'NAME' }), 'personalizations[0].attributes'],
  [one({ attributes: { NAME: ['Ada'] } }), 'personalizations[0].attributes.NAME'],
  [one({ attributes: { 'a\nb': { toString: 1 } } }), 'personalizations[0].attributes.a\nb'],
  [one({ 'x-headers': ['X-A: b'] }), 'personalizations[0].x-headers'],
  [one({ 'x-headers': { 'X-A': ['b'] } }), 'personalizations[0].x-headers.X-A'],
  [one({ 'x-headers': { 'X A': 'b' } }), 'personalizations[0].x-headers'],
  [one({ attachments: 'a' }), 'personalizations[0].attachments'],
  [one({ attachments: [{ fileName: 'a' }] }), 'personalizations[0].attachments[0].fileContent'],
  [{ from: 'desk@ship.example' }, 'from'],
  [{ from: { fromEmail: `desk@${sender.domain}`, fromName: { a: 1 } } }, 'from.fromName'],
  [{ subject: ['S'] }, 'subject'],
  [{ subject: 'S'.repeat(4097) }, 'subject'],
  [{ content: { html: 'C' } }, 'content'],
  [{ ampcontent: 7 }, 'ampcontent'],
  [{ attachments: { fileName: 'a', fileContent: 'YQ==' } }, 'attachments'],
  [{ attachments: [{ fileContent: 'YQ==' }] }, 'attachments[0].fileName'],
  [{ attachments: [{ fileName: 'a', fileContent: 7 }] }, 'attachments[0].fileContent'],
  [{ attachments: [{ fileName: 'a', fileContent: 'no base64!' }] }, 'attachments[0].fileContent'],
  [{ attachments: [{ fileName: 'a', fileContent: 'YQ==YQ==' }] }, 'attachments[0].fileContent'],
  [{ attachments: [{ fileName: 'a', fileContent: 'YWFhY' }] }, 'attachments[0].fileContent'],
  [{ attachments: [{ fileName: 'a', fileContent: 'data:text/plain;base64,YQ==' }] }, 'attachments[0].fileContent'],
  [{ settings: 'footer' }, 'settings'],
  [{ settings: ['footer'] }, 'settings'],
  [{ settings: { footer: 2 } }, 'settings.footer'],
  [{ settings: { clicktrack: 'yes' } }, 'settings.clicktrack'],
  [{ settings: { bcc: ['a@harbor.example'] } }, 'settings.bcc'],
  [{ tags: 7 }, 'tags'],
  [{ tags: ['a', 7] }, 'tags[1]'],
  [{ tags: 'a'.repeat(256) }, 'tags'],
  [{ tags: Array.from({ length: 51 }, (_, at) => `tag ${at}`) }, 'tags'],
  [{ replyToId: ['a@harbor.example'] }, 'replyToId'],
  [{ replyToId: 'not an address' }, 'replyToId'],
  [{ schedule: [1] }, 'schedule'],
]
for (const [extra, parameter] of WRONG) {
  t.test(
    `what ${parameter} cannot be is refused with 113 and names it: ${JSON.stringify(extra).slice(0, 70)}`,
    async (t) => {
      const answer = await call(base, { headers: key, body: { ...body, ...extra } })
      refused(t, answer, [400, 113])
      const text = errorText(answer)
      t.ok(text.startsWith(`Parameter [${parameter}] `), text)
    },
  )
}
