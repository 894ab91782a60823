import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { asForm, type CallAnswer, FORM, JSON_TYPE } from '../call.ts'
import { accountCalls, refusedIn } from './account-calls.ts'

const service = await makeService(t)
const base = await service.openApi()
const sender = await service.makeSender()
const { ask, data } = accountCalls(base, sender.apiKey)
const refused = refusedIn('Template')

let made = 0
const name = () => `template ${++made}`
const create = async (extra: Record<string, unknown> = {}): Promise<number> =>
  (await data<{ templateId: number }>('POST', '/template', { templateName: name(), content: '<p>Hi</p>', ...extra }))
    .templateId
const dataOf = <T>({ json }: CallAnswer) => json?.data as T
const view = (id: number) => data('GET', `/template/${id}`)
const audit = async () =>
  (await data<Record<string, unknown>[]>('POST', '/audit', { limit: 1000 })).filter(({ action }) =>
    String(action).startsWith('template.'),
  )

t.test('a template is made, edited and seen as the contract’s examples have it (E14, E15, E16)', async (t) => {
  const created = await ask('POST', '/template', {
    templateName: 'berth_ready',
    content: '%3Cp%3EHi%20%5B%25NAME%25%5D%3C%2Fp%3E',
  })
  const { templateId } = dataOf<{ templateId: number }>(created)
  t.strictSame(created.json, { data: { templateId }, message: 'Success', error_info: null })
  t.type(templateId, 'number')
  t.match(await view(templateId), { templateId, templateName: 'berth_ready', content: '<p>Hi [%NAME%]</p>' })
  const edited = await ask('PATCH', `/template/${templateId}`, {
    templateName: 'berth_ready',
    content: '%3Cp%3EHello%3C%2Fp%3E',
  })
  t.strictSame(edited.json, { data: {}, message: 'Success', error_info: null })
  t.match(await view(templateId), {
    templateId,
    templateName: 'berth_ready',
    content: '<p>Hello</p>',
    version: 2,
    subject: null,
    variables: [],
    createdAt: /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/,
    updatedAt: /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/,
  })
})

t.test('a template is seen the same at every path', async (t) => {
  const id = await create()
  const seen = await view(id)
  const paths = [`/templates/${id}`, `/template?template_id=${id}`, `/templates?template_id=${id}`]
  for (const path of paths) t.strictSame(await data('GET', path), seen, path)
  t.strictSame(await data('POST', '/getTemplate', { templateId: id }), seen)
  t.strictSame(await data('POST', '/getTemplate', { templateId: String(id) }), seen)
  t.strictSame(await data('POST', '/getTemplate', `templateId=${id}`, FORM), seen)
})

t.test('an edit changes what it names, by PATCH, POST or PUT, in JSON or a form', async (t) => {
  const id = await create({ content: 'A [%NAME%]', subject: 'Berth', variables: [{ name: 'NAME' }] })
  const before = await view(id)
  const renamed = name()
  await data('PATCH', `/template/${id}`, { templateName: renamed })
  t.match(await view(id), { ...before, templateName: renamed, updatedAt: String }, 'a name alone makes no version')
  await data('POST', `/templates/${id}`, { content: 'B' })
  t.match(await view(id), { templateName: renamed, content: 'B', subject: 'Berth', version: 2 })
  t.strictSame((await view(id)).variables, before.variables)
  await data('PUT', `/template/${id}`, asForm({ content: '<p>C+1</p>', subject: '' }), FORM)
  t.match(await view(id), { templateName: renamed, content: '<p>C+1</p>', subject: null, version: 3 })
  await data('PATCH', `/template/${id}`, { templateName: null, content: '<p>C+1</p>' })
  t.match(await view(id), { templateName: renamed, version: 3 }, 'the same content makes no version')
})

t.test('a form makes what JSON makes, with variables in brackets or as JSON', async (t) => {
  const wanted = [{ name: 'AMOUNT', type: 'number', required: true, default: null }]
  const bracketed = {
    templateName: name(),
    content: '<p>x</p>',
    variables: [{ name: 'AMOUNT', type: 'number', required: 1 }],
  }
  const { templateId } = await data<{ templateId: number }>('POST', '/template', asForm(bracketed), FORM)
  t.strictSame((await view(templateId)).variables, wanted)
  const spelled = { ...bracketed, templateName: name(), variables: JSON.stringify(bracketed.variables) }
  const other = await data<{ templateId: number }>('POST', '/templates', asForm(spelled), FORM)
  t.strictSame((await view(other.templateId)).variables, wanted)
})

t.test('content is taken as it is unless the whole of it is URL-encoded', async (t) => {
  for (const [content, kept] of [
    ['Save 50%20 today <b>now</b>', 'Save 50%20 today <b>now</b>'],
    ['%3Cp%3Ea+b%3C%2Fp%3E', '<p>a b</p>'],
    ['Grüße 🚢', 'Grüße 🚢'],
  ] as const) {
    t.equal((await view(await create({ content }))).content, kept)
  }
})

t.test('templates are listed a page at a time, without content, oldest first', async (t) => {
  const own = accountCalls(base, (await service.makeSender()).apiKey)
  const ids: number[] = []
  for (let at = 0; at < 12; at++) {
    ids.push(
      (await own.data<{ templateId: number }>('POST', '/template', { templateName: `t${at}`, content: 'x' }))
        .templateId,
    )
  }
  const idsOf = (answer: CallAnswer) => dataOf<{ templateId: number }[]>(answer).map(({ templateId }) => templateId)
  const first = await own.ask('GET', '/template')
  t.strictSame([idsOf(first), first.json?.totalRecords], [ids.slice(0, 10), 12])
  t.notOk(first.text.includes('"content"'))
  t.match(dataOf<unknown[]>(first)[0], { templateName: 't0', createdAt: String, updatedAt: String })
  t.strictSame(idsOf(await own.ask('GET', '/templates?limit=5&offset=10')), ids.slice(10))
  t.strictSame(idsOf(await own.ask('POST', '/getTemplates', { limit: 2, offset: 3 })), ids.slice(3, 5))
  t.strictSame(idsOf(await own.ask('POST', '/getTemplates')), ids.slice(0, 10))
  for (const query of ['limit=x', 'offset=x']) {
    refused(t, await own.ask('GET', `/template?${query}`), [113], query)
  }
})

t.test('a deleted template is gone, and its name is free', async (t) => {
  const templateName = name()
  const id = await create({ templateName })
  t.strictSame((await ask('DELETE', `/template/${id}`)).json, { data: {}, message: 'Success', error_info: null })
  refused(t, await ask('GET', `/template/${id}`), [150])
  refused(t, await ask('DELETE', `/template/${id}`), [150])
  const again = await create({ templateName })
  t.ok(again > id, 'ids are not used again')
  await data('POST', '/deleteTemplate', { templateId: again })
  refused(t, await ask('POST', '/deleteTemplate', { templateId: again }), [150])
})

t.test('X150: an invalid or unknown id is rejected by every operation that names one', async (t) => {
  for (const id of ['999999', '0', '-1', '1.5', 'abc', '99999999999', '%20', "1'--"]) {
    const sentence = 'Invalid template id'
    refused(t, await ask('GET', `/template/${id}`), [150, sentence], id)
    refused(t, await ask('GET', `/template?template_id=${id}`), [150, sentence], id)
    refused(t, await ask('PATCH', `/template/${id}`, { templateName: 'x' }), [150, sentence], id)
    refused(t, await ask('PATCH', `/template/${id}`, { foo: 1 }), [150, sentence], id)
    refused(t, await ask('DELETE', `/template/${id}`), [150, sentence], id)
    refused(t, await ask('GET', `/template/${id}/versions`), [150, sentence], id)
    refused(t, await ask('GET', `/template/${id}/versions/1`), [150, sentence], id)
    refused(t, await ask('POST', `/template/${id}/versions`, { content: 'x' }), [150, sentence], id)
    refused(t, await ask('POST', `/template/${id}/activate`, { version: 1 }), [150, sentence], id)
    refused(t, await ask('POST', `/template/${id}/render`), [150, sentence], id)
  }
  refused(t, await ask('POST', '/getTemplate', { foo: 1 }), [113, 'Parameter [templateId] not passed'])
})

t.test('X151: a name that is missing or malformed is refused', async (t) => {
  const names = ['', ' ', 'a/b', 'naïve', 'a\nb', 'a\tb', '<b>', 'x'.repeat(101), null, undefined]
  const id = await create()
  for (const templateName of names) {
    const answer = await ask('POST', '/template', { templateName, content: 'x' })
    refused(t, answer, [151, 'Invalid template name'], String(templateName))
    if (typeof templateName === 'string') refused(t, await ask('PATCH', `/template/${id}`, { templateName }), [151])
  }
  t.ok(await create({ templateName: 'x'.repeat(100) }))
  t.ok(await create({ templateName: `Az0 _.-${++made}` }))
})

t.test('X152: blank content is refused, also when it is blank once decoded', async (t) => {
  const id = await create()
  for (const content of ['%20', '', ' \n', '+%20', null, undefined]) {
    refused(t, await ask('POST', '/template', { templateName: name(), content }), [152, 'Template content is blank'])
    if (typeof content === 'string') refused(t, await ask('PATCH', `/template/${id}`, { content }), [152])
  }
  refused(t, await ask('POST', `/template/${id}/versions`, { subject: 'x' }), [152])
})

t.test('X153: content of 10 MB, measured in octets and decoded, is refused, and one octet less is not', async (t) => {
  const limit = 10 * 1024 * 1024
  const refusal = [153, 'Template size must be less than 10 MB'] as const
  refused(t, await ask('POST', '/template', { templateName: name(), content: 'x'.repeat(limit) }), refusal)
  refused(t, await ask('POST', '/template', { templateName: name(), content: 'ü'.repeat(limit / 2) }), refusal)
  const id = await create({ content: 'x'.repeat(limit - 1) })
  t.equal(String((await view(id)).content).length, limit - 1)
  // Twice the octets on the wire.
  const encoded = `%3C${'%78x'.repeat(limit / 2 - 1)}%3E`
  refused(t, await ask('PATCH', `/template/${id}`, { content: encoded }), refusal)
  await data('PATCH', `/template/${id}`, { content: encoded.slice(0, -3) })
  t.equal(String((await view(id)).content).length, limit - 1)
})

t.test('X154: a name is taken whatever its case, but not by another account', async (t) => {
  const body = { templateName: 'Late Berth', content: 'x' }
  const id = (await data<{ templateId: number }>('POST', '/template', body)).templateId
  const refusal = [154, 'Template name is already used'] as const
  refused(t, await ask('POST', '/template', body), refusal)
  refused(t, await ask('POST', '/template', { ...body, templateName: ' LATE berth ' }), refusal)
  const other = await create()
  refused(t, await ask('PATCH', `/template/${other}`, { templateName: 'late berth', content: 'new' }), refusal)
  t.match(await view(other), { version: 1, content: '<p>Hi</p>' }, 'the content was not changed either')
  await data('PATCH', `/template/${id}`, { templateName: 'LATE BERTH' })
  t.equal((await view(id)).templateName, 'LATE BERTH', 'its own name in another case is free')
  const stranger = accountCalls(base, (await service.makeSender()).apiKey)
  t.ok(await stranger.data('POST', '/template', body))
})

t.test('157: an account has at most 1,000 templates', async (t) => {
  const full = await service.makeSender()
  await service.sql`
    insert into templates (account_id, name, content, variables)
    select ${full.accountId}, 'template ' || n, '<p>Hi</p>', '[]' from generate_series(1, 999) n`
  const calls = accountCalls(base, full.apiKey)
  const body = (templateName: string) => ({ templateName, content: '<p>Hi</p>' })
  const answers = await Promise.all(['one more', 'and one'].map((one) => calls.ask('POST', '/template', body(one))))
  const [made, over] = answers.toSorted((one, other) => one.status - other.status) as [CallAnswer, CallAnswer]
  t.equal(made.status, 200)
  refused(t, over, [157])
  await calls.data('DELETE', `/template/${dataOf<{ templateId: number }>(made).templateId}`)
  t.ok(await calls.data('POST', '/template', body('another')))
})

t.test('of many who create a template of one name at once one succeeds', async (t) => {
  const body = { templateName: name(), content: 'x' }
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask('POST', '/template', body)))
  t.equal(answers.filter(({ status }) => status === 200).length, 1)
  for (const answer of answers.filter(({ status }) => status !== 200)) refused(t, answer, [154])
})

t.test('an empty body is 110, broken JSON 111, an edit that names nothing 113', async (t) => {
  const id = await create()
  for (const [method, path] of [
    ['POST', '/template'],
    ['PATCH', `/template/${id}`],
    ['POST', '/getTemplate'],
    ['POST', '/deleteTemplate'],
  ] as const) {
    for (const body of ['', '{}']) refused(t, await ask(method, path, body, JSON_TYPE), [110], path)
    refused(t, await ask(method, path, '{"', JSON_TYPE), [111], path)
    refused(t, await ask(method, path, '[]', JSON_TYPE), [111], path)
  }
  refused(t, await ask('PATCH', `/template/${id}`, { foo: 1 }), [113, 'Parameter [templateName] not passed'])
})

t.test('text the database or a reader could not take is refused with 113', async (t) => {
  for (const extra of [
    { content: 'a\0b' },
    { content: 'a%00b' },
    { content: 'a \ud800 b' },
    { content: 42 },
    { content: ['x'] },
    { subject: 'a\r\nBcc: x@y.example' },
    { subject: 'a\0b' },
    { subject: 'x'.repeat(4097) },
  ]) {
    const body = { templateName: name(), content: 'x', ...extra }
    // A lone surrogate can only be written as an escape.
    refused(
      t,
      await ask('POST', '/template', JSON.stringify(body), JSON_TYPE),
      [113],
      JSON.stringify(extra).slice(0, 60),
    )
  }
})

t.test('PATCH on the list and verbs no template takes are 405', async (t) => {
  const id = await create()
  for (const [method, path] of [
    ['PATCH', '/template'],
    ['DELETE', '/template'],
    ['GET', '/getTemplate'],
    ['PUT', `/template/${id}/versions`],
    ['GET', `/template/${id}/render`],
  ] as const) {
    t.match(await ask(method, path), { status: 405, json: { error_info: { error_code: 405 } } }, `${method} ${path}`)
  }
  t.equal((await ask('HEAD', `/template/${id}`)).status, 200)
})

t.test('another account’s template requested by query is as unknown as one that never existed', async (t) => {
  const stranger = accountCalls(base, (await service.makeSender()).apiKey)
  const theirs = await stranger.ask('GET', `/template?template_id=${await create()}`)
  t.equal(theirs.text, (await stranger.ask('GET', '/template?template_id=999999')).text)
  refused(t, theirs, [150])
})

t.test('a key for sending may not see or change templates', async (t) => {
  const { secret } = await service.core.auth.createKey({ accountId: sender.accountId, scopes: ['send'] })
  const limited = accountCalls(base, secret)
  for (const [method, path] of [
    ['GET', '/template'],
    ['POST', '/template'],
  ] as const) {
    t.match(await limited.ask(method, path, '{}'), { status: 403, json: { error_info: { error_code: 103 } } })
  }
})

t.test('the audit log tells names, sizes and digests of content, and never content', async (t) => {
  const id = await create({
    templateName: 'noted',
    content: '<p>a secret offer</p>',
    variables: [{ name: 'A', default: 'hush' }],
  })
  await data('PATCH', `/template/${id}`, { content: '<p>another offer</p>' })
  await data('POST', `/template/${id}/versions`, { content: '<p>third offer</p>' })
  await data('POST', `/template/${id}/activate`, { version: 1 })
  await data('DELETE', `/template/${id}`)
  const entries = (await audit()).filter(({ object }) => object === `template ${id}`)
  const sha256 = /^[0-9a-f]{64}$/
  t.match(entries, [
    {
      action: 'template.create',
      before: null,
      after: { name: 'noted', version: 1, size: 21, sha256, variables: ['A'] },
      ip: '127.0.0.1',
    },
    { action: 'template.edit', before: { version: 1, size: 21 }, after: { version: 2, size: 20, sha256 } },
    { action: 'template.add-version', before: { version: 2 }, after: { version: 3, sha256 } },
    { action: 'template.activate', before: { version: 2 }, after: { version: 1, size: 21 } },
    { action: 'template.delete', before: { name: 'noted', version: 1 }, after: null },
  ])
  t.type(entries[0]?.keyId, 'number')
  t.notMatch(JSON.stringify(entries), /offer|hush/)
})

t.test('a refused change leaves no entry in the audit log', async (t) => {
  const id = await create()
  const before = (await audit()).length
  await ask('PATCH', `/template/${id}`, { content: ' ' })
  await ask('POST', `/template/${id}/activate`, { version: 9 })
  await ask('POST', `/template/${id}/activate`, { version: 1 })
  await ask('PATCH', `/template/${id}`, { content: '<p>Hi</p>' })
  t.equal((await audit()).length, before)
})
