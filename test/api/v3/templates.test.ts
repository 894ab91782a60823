import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import type { CallAnswer } from '../call.ts'
import { type AskOptions, ask, refusedV3 } from './ask.ts'
import { proves } from './conformance/proves.ts'

const service = await makeService(t)
const url = await service.openApi()
const DYNAMIC = /^d-[0-9a-f]{32}$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const WHEN = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/

type Listed = Record<string, unknown> & { readonly id: string; readonly versions: readonly Record<string, unknown>[] }

function listIn({ json }: CallAnswer, key: string): readonly Listed[] {
  return (json?.[key] ?? []) as readonly Listed[]
}

async function makeCaller() {
  const sender = await service.makeSender()
  const call = (method: string, path: string, body?: unknown): Promise<CallAnswer> =>
    ask(url, { method, path, key: sender.apiKey, body } as AskOptions)
  const make = async (body: Record<string, unknown>): Promise<string> => {
    const { status, json } = await call('POST', '/templates', body)
    if (status !== 201) throw new Error(`the template was not made: ${status}`)
    return String(json?.id)
  }
  const addVersion = async (template: string, body: Record<string, unknown> = {}): Promise<Record<string, unknown>> => {
    const { status, json, text } = await call('POST', `/templates/${template}/versions`, {
      name: 'v1',
      subject: 's',
      ...body,
    })
    if (status !== 201) throw new Error(`the version was not made: ${status} ${text}`)
    return json as Record<string, unknown>
  }
  return { ...sender, call, make, addVersion }
}

t.test('P29: a template is created without a version; the default generation is legacy', async (t) => {
  proves(t, 'operation.createTemplate', 'template.generation')
  const { call } = await makeCaller()
  const dynamic = await call('POST', '/templates', { name: 'Receipt', generation: 'dynamic' })
  t.equal(dynamic.status, 201)
  t.match(dynamic.json, { id: DYNAMIC, name: 'Receipt', generation: 'dynamic', updated_at: WHEN, versions: [] })
  const legacy = await call('POST', '/templates', { name: 'Receipt' })
  t.match(legacy.json, { id: UUID, generation: 'legacy' })
  refusedV3(t, await call('POST', '/templates', { name: 'Receipt', generation: 'new' }), [400, /./, 'generation'])
  refusedV3(t, await call('POST', '/templates', {}), [400, /required/, 'name'])
  refusedV3(t, await call('POST', '/templates', { name: 'n'.repeat(101) }), [400, /at most 100/, 'name'])
})

t.test('P30 and P31: a version is created and shown with its template', async (t) => {
  proves(t, 'operation.addTemplateVersion', 'operation.viewTemplate', 'version.test_data')
  const { call, make, accountId } = await makeCaller()
  const id = await make({ name: 'Receipt', generation: 'dynamic' })
  const given = {
    name: 'v1',
    subject: 'Order {{number}}',
    html_content: '<p>{{number}}</p>',
    plain_content: '{{number}}',
    active: 1,
    test_data: '{"number":7}',
  }
  const added = await call('POST', `/templates/${id}/versions`, given)
  t.equal(added.status, 201)
  const version = {
    ...given,
    template_id: id,
    generate_plain_content: false,
    editor: 'code',
    thumbnail_url: '',
    id: added.json?.id,
  }
  t.match(added.json?.id, UUID)
  t.same(added.json, version)
  const shown = await call('GET', `/templates/${id}`)
  t.equal(shown.status, 200)
  const [first] = listIn(shown, 'versions')
  const { updated_at, ...rest } = first as Listed
  t.match(updated_at, WHEN)
  t.same(rest, { ...version, user_id: accountId })
})

t.test('P32: a change of one field of a version also changes the dates', async (t) => {
  proves(t, 'operation.editTemplateVersion', 'version.editor')
  const { call, make, addVersion } = await makeCaller()
  const id = await make({ name: 'Receipt', generation: 'dynamic' })
  const { id: version } = await addVersion(id, { html_content: '<p>{{number}}</p>' })
  await service.sql`update editable_templates set updated_at = '2020-01-01' where id = ${id}`
  const changed = await call('PATCH', `/templates/${id}/versions/${version}`, { subject: 'Your order {{number}}' })
  t.equal(changed.status, 200)
  t.match(changed.json, {
    id: version,
    subject: 'Your order {{number}}',
    html_content: '<p>{{number}}</p>',
    updated_at: WHEN,
  })
  t.not((await call('GET', `/templates/${id}`)).json?.updated_at, '2020-01-01 00:00:00')
  refusedV3(t, await call('PATCH', `/templates/${id}/versions/${version}`, { editor: 'design' }), [
    400,
    'You cannot switch editors once a dynamic template version has been created.',
    'editor',
  ])
  t.equal((await call('PATCH', `/templates/${id}/versions/${version}`, { editor: 'code' })).status, 200)
})

t.test('plain text is made from the HTML unless it is given', async (t) => {
  const { call, make, addVersion } = await makeCaller()
  const id = await make({ name: 'Receipt' })
  const made = await addVersion(id, {
    html_content: '<h1>Hi {{name}}</h1><p>-name-, <a href="https://ship.example/b">your berth</a></p>',
  })
  t.equal(made.generate_plain_content, true)
  t.match(made.plain_content, /Hi \{\{name\}\}\s+-name-, your berth \(https:\/\/ship\.example\/b\)/)
  const path = `/templates/${id}/versions/${made.id}`
  t.match((await call('PATCH', path, { html_content: '<p>new</p>' })).json, { plain_content: 'new' })
  t.match((await call('PATCH', path, { plain_content: 'my own' })).json, {
    plain_content: 'my own',
    generate_plain_content: false,
  })
  t.match((await call('PATCH', path, { html_content: '<p>newer</p>' })).json, { plain_content: 'my own' })
  t.match((await call('PATCH', path, { generate_plain_content: true })).json, { plain_content: 'newer' })
})

t.test('P33: an unknown template is not found, however it is requested', async (t) => {
  const { call } = await makeCaller()
  const ids = ['d-00000000000000000000000000000000', '00000000-0000-4000-8000-000000000000', '17', 'x%00y', '%2e%2e']
  for (const id of ids) {
    refusedV3(t, await call('GET', `/templates/${id}`), [404, 'resource not found'], id)
    refusedV3(t, await call('DELETE', `/templates/${id}`), [404, 'resource not found'], id)
    refusedV3(t, await call('GET', `/templates/${id}/versions/${ids[1]}`), [404, 'resource not found'], id)
  }
})

t.test('P34: an empty call activates a version and deactivates the previous one', async (t) => {
  proves(t, 'operation.activateTemplateVersion', 'operation.viewTemplateVersion', 'operation.deleteTemplateVersion')
  proves(t, 'version.names')
  const { call, make, addVersion } = await makeCaller()
  const id = await make({ name: 'Receipt', generation: 'dynamic' })
  const first = await addVersion(id, { active: 0 })
  t.equal(first.active, 1, 'the first one is active whatever is said')
  const second = await addVersion(id)
  t.equal(second.active, 0)
  const activated = await call('POST', `/templates/${id}/versions/${second.id}/activate`)
  t.equal(activated.status, 200)
  t.match(activated.json, { id: second.id, active: 1, updated_at: WHEN })
  t.match((await call('GET', `/templates/${id}/versions/${first.id}`)).json, { id: first.id, active: 0 })
  const third = await addVersion(id, { active: 1 })
  t.same(
    listIn(await call('GET', `/templates/${id}`), 'versions').map(({ id, active }) => [id, active]),
    [
      [third.id, 1],
      [second.id, 0],
      [first.id, 0],
    ],
  )
  t.equal((await call('DELETE', `/templates/${id}/versions/${third.id}`)).status, 204)
  refusedV3(t, await call('GET', `/templates/${id}/versions/${third.id}`), [404, 'resource not found'])
})

t.test('P35: templates are listed in both response formats', async (t) => {
  proves(t, 'operation.listTemplates', 'templates.pages')
  const { call, make, addVersion } = await makeCaller()
  const legacy = await make({ name: 'old' })
  const made: string[] = []
  for (let at = 0; at < 5; at++) made.unshift(await make({ name: `new ${at}`, generation: 'dynamic' }))
  await addVersion(made[0] as string, { html_content: '<p>long</p>' })
  const bare = await call('GET', '/templates')
  t.same(Object.keys(bare.json ?? {}), ['templates'])
  t.same(
    listIn(bare, 'templates').map(({ id }) => id),
    [legacy],
  )

  const seen: string[] = []
  let next: string | undefined = '/templates?generations=dynamic&page_size=2'
  let pages = 0
  while (next) {
    const page: CallAnswer = await call('GET', next)
    t.same(Object.keys(page.json ?? {}), ['result', '_metadata'])
    const metadata = page.json?._metadata as { self: string; next?: string; count: number }
    t.equal(metadata.count, 5)
    t.ok(metadata.self.startsWith(`${service.config.publicUrl}/v3/templates?page_token=`))
    seen.push(...listIn(page, 'result').map(({ id }) => id))
    next = metadata.next?.slice(`${service.config.publicUrl}/v3`.length)
    pages++
  }
  t.equal(pages, 3)
  t.same(seen, made)
  const both = await call('GET', '/templates?generations=legacy,dynamic&page_size=200')
  const [first] = listIn(both, 'result')
  t.equal(listIn(both, 'result').length, 6)
  t.notOk('html_content' in (first?.versions[0] ?? {}), 'without their content')
  t.match(first?.versions[0], { active: 1, name: 'v1', updated_at: WHEN })
  for (const [query, field] of [
    ['page_size=0', 'page_size'],
    ['page_size=201', 'page_size'],
    ['generations=newest', 'generations'],
    ['page_size=5&page_token=zzz', 'page_token'],
  ] as const) {
    refusedV3(t, await call('GET', `/templates?${query}`), [400, /./, field], query)
  }
})

t.test('a template is renamed, duplicated and deleted', async (t) => {
  proves(t, 'operation.renameTemplate', 'operation.duplicateTemplate', 'operation.deleteTemplate')
  const { call, make, addVersion } = await makeCaller()
  const id = await make({ name: 'Receipt', generation: 'dynamic' })
  await addVersion(id, { name: 'one', html_content: '<p>1</p>' })
  await addVersion(id, { name: 'two', html_content: '<p>2</p>', active: 1 })
  for (const name of ['three', 'four', 'five']) await addVersion(id, { name, active: 0 })
  t.match((await call('PATCH', `/templates/${id}`, { name: 'Bill' })).json, { id, name: 'Bill', versions: [{}, {}] })
  const copied = await call('POST', `/templates/${id}`, { name: 'Copy' })
  t.equal(copied.status, 201)
  t.match(copied.json, {
    id: DYNAMIC,
    name: 'Copy',
    versions: [
      { name: 'two', active: 1 },
      { name: 'five', active: 0 },
      { name: 'four', active: 0 },
      { name: 'three', active: 0 },
      { name: 'one', active: 0 },
    ],
  })
  t.not(copied.json?.id, id)
  t.match((await call('POST', `/templates/${id}`)).json, { name: 'Duplicate: Bill' })
  t.equal((await call('DELETE', `/templates/${id}`)).status, 204)
  refusedV3(t, await call('GET', `/templates/${id}`), [404, 'resource not found'])
  t.equal((await call('GET', `/templates/${copied.json?.id}`)).status, 200)
})

t.test('an invalid field is rejected by name, and the call changes nothing', async (t) => {
  proves(t, 'version.size')
  const { call, make, addVersion } = await makeCaller()
  const id = await make({ name: 'Receipt' })
  const version = await addVersion(id)
  const path = `/templates/${id}/versions/${version.id}`
  for (const [field, value] of [
    ['name', 'n'.repeat(101)],
    ['name', ' '],
    ['name', 7],
    ['subject', 's'.repeat(256)],
    ['subject', 'a\r\nBcc: b@harbor.example'],
    ['html_content', 'a\0b'],
    ['plain_content', ['a']],
    ['test_data', '{"number":'],
    ['active', 2],
    ['editor', 'word'],
    ['generate_plain_content', 'yes'],
  ] as const) {
    refusedV3(t, await call('PATCH', path, { [field]: value }), [400, /./, field], field)
  }
  refusedV3(t, await call('PATCH', path, { html_content: 'a'.repeat(10 * 1024 * 1024) }), [400, /10 MB/])
  t.equal(
    (await call('PATCH', path, { html_content: 'a'.repeat(10 * 1024 * 1024 - 1), generate_plain_content: false }))
      .status,
    200,
  )
  refusedV3(t, await call('POST', `/templates/${id}/versions`, { name: 'v' }), [400, /required/, 'subject'])
})

t.test('there is an end to templates and to versions', async (t) => {
  const { call, make, addVersion, accountId } = await makeCaller()
  const id = await make({ name: 'Receipt' })
  await addVersion(id)
  await service.sql`
    insert into editable_versions (account_id, template_id, id, active, name, subject, html, plain, generate_plain, editor)
    select ${accountId}, ${id}, gen_random_uuid(), false, 'v', '', '', '', true, 'code' from generate_series(2, 300)`
  refusedV3(t, await call('POST', `/templates/${id}/versions`, { name: 'v', subject: 's' }), [400, /at most 300/])
  await service.sql`
    insert into editable_templates (account_id, id, generation, name)
    select ${accountId}, gen_random_uuid()::text, 'legacy', 't' from generate_series(2, 1000)`
  refusedV3(t, await call('POST', '/templates', { name: 'one too many' }), [400, /at most 1000/])
  t.equal(listIn(await call('GET', '/templates'), 'templates').length, 1000)
})
