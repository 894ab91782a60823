import t from 'tap'
import { makeArrivals } from '../arrivals.ts'
import { call } from '../call.ts'
import { ask } from '../v3/ask.ts'
import { mailBody } from '../v3/mail.ts'
import { messageIdOf } from '../v3/mail-arrivals.ts'

const { service, base, sender, send, copies } = await makeArrivals(t)

const SENT: readonly (readonly [subject: string, attributes: Record<string, string>, seen: string])[] = [
  ['Hi [%NAME%]', { name: 'Ada' }, 'Hi Ada'],
  ['Hi [%NAME%], berth [%BERTH%].', { NAME: 'Ada' }, 'Hi Ada, berth .'],
  ['Hi [%NAME%].', {}, 'Hi .'],
  ['Hi [%GUEST%]', {}, 'Hi stranger'],
  ['Hi [%guest%]', { GUEST: '' }, 'Hi stranger'],
  ['Hi [%GUEST%]', { guest: 'Ada' }, 'Hi Ada'],
  ['no tag', { NAME: 'Ada' }, 'no tag'],
]
const template = await service.core.templates.create({
  accountId: sender.accountId,
  name: 'with a default',
  content: '<p>[%GUEST%]</p>',
  variables: [{ name: 'GUEST', type: 'string', required: false, default: 'stranger' }],
})

for (const [subject, attributes, seen] of SENT) {
  t.test(`the log has the subject that was sent: ${subject} with ${JSON.stringify(attributes)}`, async (t) => {
    const answer = await send({
      subject,
      templateId: template.id,
      content: '%20',
      personalizations: [{ recipient: 'lena@harbor.example', attributes }],
    })
    t.equal((await copies(answer))[0]?.mail.subject, seen)
    const id = answer.body.data?.message_id
    t.strictSame(await loggedSubjects(id), [seen])
  })
}

async function loggedSubjects(id: string | undefined): Promise<string[]> {
  const path = `/v2/logs?startdate=2026-01-01&messageid=${id}`
  const log = await call(base, { method: 'GET', path, headers: { api_key: sender.apiKey } })
  return ((log.json?.data ?? []) as { subject: string }[]).map(({ subject }) => subject).sort()
}

t.test(
  'of v3 mail the log has each element’s own subject, with its keys and Handlebars as they were handed in',
  async (t) => {
    const to = (name: string) => ({ to: [{ email: `${name}@harbor.example` }] })
    const send = async (body: object) =>
      messageIdOf(await ask(base, { path: '/mail/send', key: sender.apiKey, body: mailBody(sender, { ...body }) }))
    const substituted = await send({
      subject: 'Hi -name-',
      personalizations: [
        { ...to('ada'), substitutions: { '-name-': 'Ada' } },
        { ...to('bob'), substitutions: { '-name-': 'Bob' }, subject: 'Ho -name- [%NAME%]' },
      ],
    })
    t.strictSame(await loggedSubjects(substituted), ['Hi -name-', 'Ho -name- [%NAME%]'])
    const { core } = service
    const { accountId } = sender
    const { id } = await core.editableTemplates.create({ accountId, name: 'log', generation: 'dynamic' })
    await core.editableTemplates.addVersion(
      { accountId, id },
      { name: 'v', subject: 'Dear {{name}}', html: '<p>x</p>' },
    )
    const rendered = await send({
      subject: 'not this one',
      template_id: id,
      personalizations: [{ ...to('ada'), dynamic_template_data: { name: 'Ada' } }],
    })
    t.strictSame(await loggedSubjects(rendered), ['Dear {{name}}'])
  },
)
