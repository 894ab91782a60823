import t from 'tap'
import { makeArrivals } from '../arrivals.ts'
import { call, errorText, JSON_TYPE } from '../call.ts'
import { accountCalls } from './account-calls.ts'

const { service, base, sender, deliver } = await makeArrivals(t)
// Before its key is first used: settings are cached.
await service.sql`update accounts set generate_text = true where id = ${sender.accountId}`
const { data } = accountCalls(base, sender.apiKey)

let made = 0
const create = async (extra: Record<string, unknown>): Promise<number> => {
  const body = { templateName: `t ${++made}`, content: '<p>Dear <b>[%NAME%]</b></p>', ...extra }
  return (await data<{ templateId: number }>('POST', '/template', body)).templateId
}
/** The two parts of a message with the template; the text is undefined if there is none. */
async function parts(
  templateId: number,
  extra: Record<string, unknown> = {},
): Promise<{ text: string | undefined; html: string | false }> {
  const { mail, raw } = await deliver({
    content: undefined,
    templateId,
    personalizations: [{ recipient: 'lena@harbor.example', attributes: { NAME: 'Lena & Mina' } }],
    settings: { opentrack: 0, clicktrack: 0, unsubscribe: 0, footer: 0 },
    ...extra,
  })
  return { text: /^Content-Type: text\/plain/m.test(raw) ? mail.text?.trimEnd() : undefined, html: mail.html }
}

t.test('a template holds a text, with merge tags as in its HTML', async (t) => {
  const id = await create({ text: 'Ahoy [%NAME%]', variables: [{ name: 'NAME', default: 'sailor' }] })
  t.match(await data('GET', `/template/${id}`), { text: 'Ahoy [%NAME%]', content: '<p>Dear <b>[%NAME%]</b></p>' })
  t.strictSame(await parts(id), { text: 'Ahoy Lena & Mina', html: '<p>Dear <b>Lena & Mina</b></p>' })
  t.match(await data('POST', `/template/${id}/render`, {}), { text: 'Ahoy sailor', missing: [] })
})

t.test(
  'a template without a text has a generated one, and a message of an older call is as before otherwise',
  async (t) => {
    const id = await create({})
    t.match(await data('GET', `/template/${id}`), { text: null })
    t.strictSame(await parts(id), { text: 'Dear Lena & Mina', html: '<p>Dear <b>Lena & Mina</b></p>' })
    t.match(await data('POST', `/template/${id}/render`, { attributes: { NAME: 'Ada' } }), { text: 'Dear Ada' })
  },
)

t.test('a text is part of a version: kept if it is not named, and removed by an empty one', async (t) => {
  const id = await create({ text: 'one' })
  await data('PATCH', `/template/${id}`, { content: '<p>two</p>' })
  t.match(await data('GET', `/template/${id}`), { version: 2, text: 'one', content: '<p>two</p>' })
  await data('PATCH', `/template/${id}`, { text: 'three%20%C3%BC' })
  t.match(await data('GET', `/template/${id}`), { version: 3, text: 'three ü' })
  await data('PATCH', `/template/${id}`, { text: 'three%20%C3%BC' })
  t.match(await data('GET', `/template/${id}`), { version: 3 }, 'the same text makes no version')
  await data('PATCH', `/template/${id}`, { text: '' })
  t.match(await data('GET', `/template/${id}`), { version: 4, text: null })
  t.match(await data('GET', `/template/${id}/versions/3`), { text: 'three ü' })
  await data('POST', `/template/${id}/activate`, { version: 1 })
  t.match(await data('GET', `/template/${id}`), { version: 1, text: 'one' })
  t.equal((await parts(id)).text, 'one')
  t.match(await data('POST', `/template/${id}/versions`, { content: '<p>five</p>' }), { version: 5, text: 'one' })
})

t.test('edits at the same time do not lose the text', async (t) => {
  const id = await create({ text: 'kept' })
  await Promise.all([1, 2, 3, 4].map((at) => data('PATCH', `/template/${id}`, { content: `<p>${at}</p>` })))
  t.match(await data('GET', `/template/${id}`), { version: 5, text: 'kept' })
})

t.test('a text that cannot be stored is refused by name', async (t) => {
  const create = async (text: unknown) =>
    call(base, {
      path: '/v2/template',
      headers: { ...JSON_TYPE, api_key: sender.apiKey },
      body: { templateName: 'bad', content: '<p>a</p>', text },
    })
  t.match(errorText(await create('a\0')), /\[text\] is invalid: must not contain NUL/)
  t.match(errorText(await create('a\ud800')), /\[text\] is invalid/)
  t.match(errorText(await create('a'.repeat(10 * 1024 * 1024))), /10 MB/)
})

t.test('a text of the call replaces that of the template, as its subject does; a blank one does not', async (t) => {
  for (const extra of [{ text: 'of the template' }, {}]) {
    const templateId = await create(extra)
    for (const [textcontent, wanted] of [
      ['Ahoy [%NAME%]', 'Ahoy Lena & Mina'],
      ['Ahoy%20crew', 'Ahoy crew'],
      ['', extra.text ?? 'Dear Lena & Mina'],
      ['%20', extra.text ?? 'Dear Lena & Mina'],
    ])
      t.match(
        await parts(templateId, { textcontent }),
        { text: wanted, html: '<p>Dear <b>Lena & Mina</b></p>' },
        `${textcontent}`,
      )
  }
})
