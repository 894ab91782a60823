import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { ask } from './ask.ts'
import { mailBody } from './mail.ts'
import { messageIdOf } from './mail-arrivals.ts'

const service = await makeService(t)
const url = await service.openApi()
const sender = await service.makeSender()
const call = (method: string, path: string, body?: object) => ask(url, { method, path, key: sender.apiKey, body })

async function makeTemplate(generation = 'dynamic'): Promise<string> {
  return String((await call('POST', '/templates', { name: 'berth', generation })).json?.id)
}

const version = (html: string, more: object = {}) => ({ name: 'v', subject: 'Berth', html_content: html, ...more })

t.test(
  'saving a version from which no message can be built says why, with line, column and what to write',
  async (t) => {
    const path = `/templates/${await makeTemplate()}/versions`
    for (const [html, warning] of [
      ['<p>\n {{#if (eq a "b")}}c{{/if}}</p>', 'HTML, line 2, column 8: unknown helper "eq"; use equals'],
      [
        '{{lookup a b}}',
        'HTML, line 1, column 1: unknown helper "lookup"; give the value a name of its own in the data',
      ],
      ['{{> p}}', 'HTML, line 1, column 1: partials are not supported; put their text into the template'],
      ['a{{#each list}}b', 'HTML, line 1, column 2: block is not closed; end it with {{/each}}'],
    ] as const) {
      const made = await call('POST', path, version(html, { plain_content: 'x' }))
      t.match(made, { status: 201, json: { warnings: [{ message: warning }] } }, made.text)
      const shown = await call('GET', `${path}/${made.json?.id}`)
      t.match(shown.json?.warnings, [{ message: warning }])
      const mended = await call('PATCH', `${path}/${made.json?.id}`, { html_content: '<p>{{a}}</p>' })
      t.equal(mended.status, 200)
      t.notOk('warnings' in (mended.json ?? {}))
    }
    const all = await call('POST', path, version('{{> p}}', { subject: '{{#if x}}', plain_content: '{{a' }))
    t.match(all.json?.warnings, [{ message: /^Subject, / }, { message: /^HTML, / }, { message: /^Plain text, / }])
  },
)

t.test('mail with such a version is accepted and dropped at once, with the same sentence', async (t) => {
  const template = await makeTemplate()
  const path = `/templates/${template}/versions`
  const made = await call('POST', path, version('{{#if (gt a 1)}}b{{/if}}', { plain_content: 'x' }))
  const [{ message: warning } = { message: '' }] = (made.json?.warnings ?? []) as { message: string }[]
  const send = () => call('POST', '/mail/send', mailBody(sender, { template_id: template, content: undefined }))
  const answer = await send()
  t.equal(answer.status, 202, answer.text)
  const story = await service.core.messages.show(messageIdOf(answer))
  t.match(story?.deliveries, [{ state: 'dropped' }])
  const [event] = story?.events.filter(({ type }) => type === 'dropped') ?? []
  t.match(event?.detail, { reason: 'rendering', problem: warning })
  t.match(warning, /use greaterThan$/)

  await call('PATCH', `${path}/${made.json?.id}`, { html_content: '{{#greaterThan a 1}}b{{/greaterThan}}' })
  const mended = await service.core.messages.show(messageIdOf(await send()))
  t.match(mended?.deliveries, [{ state: 'queued' }])
})

t.test('an activated version is checked, a copy keeps its warning, and a legacy template has none', async (t) => {
  const template = await makeTemplate()
  const path = `/templates/${template}/versions`
  await call('POST', path, version('<p>{{a}}</p>'))
  const other = await call('POST', path, version('{{> p}}'))
  const activated = await call('POST', `${path}/${other.json?.id}/activate`)
  t.match(activated.json?.warnings, [{ message: /partials/ }])
  const copy = await call('POST', `/templates/${template}`, { name: 'copy' })
  const versions = copy.json?.versions as { active: number; warnings?: unknown }[]
  t.match(versions.find(({ active }) => active === 1)?.warnings, [{ message: /partials/ }])
  const legacy = await call('POST', `/templates/${await makeTemplate('legacy')}/versions`, version('{{> p}}<%body%>'))
  t.equal(legacy.status, 201)
  t.notOk('warnings' in (legacy.json ?? {}))
})
