import t from 'tap'
import { makeArrivals } from '../arrivals.ts'
import { asForm, FORM } from '../call.ts'
import { accountCalls, refusedIn } from './account-calls.ts'

const { service, base, sender, send, copies, deliver } = await makeArrivals(t)
const { ask, data } = accountCalls(base, sender.apiKey)
const refused = refusedIn('Template')

interface Version {
  readonly version: number
  readonly active: boolean
  readonly content?: string
  readonly size: number
}

let made = 0
const create = async (content: string, extra: Record<string, unknown> = {}): Promise<number> =>
  (await data<{ templateId: number }>('POST', '/template', { templateName: `v ${++made}`, content, ...extra }))
    .templateId
const versions = (id: number) => data<Version[]>('GET', `/template/${id}/versions`)
const told = async (id: number) =>
  (await versions(id)).map(({ version, active }) => (active ? `${version}*` : `${version}`))
const one = (attributes: Record<string, unknown>) => ({
  personalizations: [{ recipient: 'lena@harbor.example', attributes }],
})
const arrived = async (templateId: number) => (await deliver({ content: '%20', templateId })).mail.html

t.test('every edit of content makes a dated, numbered version, which is active at once', async (t) => {
  const id = await create('<p>one</p>')
  t.strictSame(await told(id), ['1*'])
  await data('PATCH', `/template/${id}`, { content: '<p>two</p>' })
  await data('PATCH', `/template/${id}`, { subject: 'Berth' })
  await data('PATCH', `/template/${id}`, { variables: [{ name: 'A' }] })
  t.strictSame(await told(id), ['4*', '3', '2', '1'])
  t.match((await versions(id))[3], { size: 10, subject: null, createdAt: /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/ })
  t.notMatch(JSON.stringify(await versions(id)), /<p>/, 'the list is without content')
  t.match(await data('GET', `/template/${id}/versions/2`), {
    version: 2,
    active: false,
    content: '<p>two</p>',
    subject: null,
  })
  t.match(await data('POST', '/getTemplateVersion', { templateId: id, version: 4 }), {
    active: true,
    content: '<p>two</p>',
    subject: 'Berth',
    variables: [{ name: 'A', type: 'string', required: false, default: null }],
  })
  t.strictSame(await data('POST', '/getTemplateVersions', { templateId: id }), await versions(id))
})

t.test('an earlier version activated again is what sends read, at once', async (t) => {
  const id = await create('<p>one</p>')
  t.equal(await arrived(id), '<p>one</p>')
  await data('PATCH', `/template/${id}`, { content: '<p>two</p>' })
  t.equal(await arrived(id), '<p>two</p>')
  t.strictSame(await data('POST', `/template/${id}/activate`, { version: 1 }), { version: 1 })
  t.strictSame(await told(id), ['2', '1*'])
  t.match(await data('GET', `/template/${id}`), { version: 1, content: '<p>one</p>' })
  t.equal(await arrived(id), '<p>one</p>')
  await data('POST', `/templates/${id}/versions/2/activate`)
  t.equal(await arrived(id), '<p>two</p>')
  await data('POST', `/template/${id}/activate`, asForm({ version: 1 }), FORM)
  await data('PATCH', `/template/${id}`, { content: '<p>three</p>' })
  t.strictSame(await told(id), ['3*', '2', '1'], 'an edit after going back takes the next number')
})

t.test('a version can be added and looked at before sends read it', async (t) => {
  const id = await create('<p>one</p>', { subject: 'Berth', variables: [{ name: 'A', default: 'x' }] })
  const added = await data('POST', `/template/${id}/versions`, { content: '%3Cp%3Etwo%20%5B%25A%25%5D%3C%2Fp%3E' })
  t.match(added, {
    version: 2,
    active: false,
    content: '<p>two [%A%]</p>',
    subject: 'Berth',
    variables: [{ name: 'A' }],
  })
  t.strictSame(await told(id), ['2', '1*'])
  t.equal(await arrived(id), '<p>one</p>')
  t.match(await data('POST', `/template/${id}/render`, { version: 2 }), { version: 2, content: '<p>two x</p>' })
  await data('POST', `/template/${id}/activate`, { version: 2 })
  t.equal(await arrived(id), '<p>two x</p>')
})

t.test('an unknown or malformed version is refused with 155, and one of another template too', async (t) => {
  const [id, other] = [await create('x'), await create('x')]
  await data('PATCH', `/template/${other}`, { content: 'y' })
  for (const version of [2, 0, -1, 'x', '1.5', '99999999999']) {
    const refusal = [155, 'Invalid template version'] as const
    refused(t, await ask('GET', `/template/${id}/versions/${version}`), refusal)
    refused(t, await ask('POST', `/template/${id}/activate`, { version }), refusal)
    refused(t, await ask('POST', `/template/${id}/render`, { version }), refusal)
  }
  refused(t, await ask('POST', `/template/${id}/activate`, {}), [113, 'Parameter [version] not passed'])
  t.strictSame(await told(id), ['1*'])
})

t.test('the newest 100 versions are kept, and the active one whatever its age', async (t) => {
  const id = await create('first')
  for (let number = 2; number <= 104; number++)
    await data('POST', `/template/${id}/versions`, { content: `x${number}` })
  const kept = await told(id)
  t.strictSame([kept.length, kept[0], kept.at(-2), kept.at(-1)], [101, '104', '5', '1*'])
  await data('POST', `/template/${id}/activate`, { version: 50 })
  await data('PATCH', `/template/${id}`, { content: 'latest' })
  const later = await told(id)
  t.strictSame([later.length, later[0], later.at(-1)], [100, '105*', '6'])
  refused(t, await ask('GET', `/template/${id}/versions/1`), [155])
})

t.test('edits at the same time each get a number, and one version is active in the end', async (t) => {
  const id = await create('x')
  await Promise.all(Array.from({ length: 20 }, (_, at) => data('PATCH', `/template/${id}`, { content: `edit ${at}` })))
  const list = await versions(id)
  t.strictSame(
    list.map(({ version }) => version),
    Array.from({ length: 21 }, (_, at) => 21 - at),
  )
  const [active, another] = list.filter(({ active }) => active)
  t.strictSame([active?.version, another], [21, undefined])
  const { content } = await data('GET', `/template/${id}/versions/21`)
  t.match(await data('GET', `/template/${id}`), { version: 21, content })
})

t.test('an accepted message keeps the content it was accepted with, edited or deleted', async (t) => {
  const id = await create('<p>as accepted, [%NAME%] [%GIFT%]</p>', {
    subject: 'For [%NAME%]',
    variables: [{ name: 'GIFT', default: 'a pen' }],
  })
  const schedule = new Date(Date.now() + 86_400_000).toISOString()
  const late = [
    await send({ ...one({ NAME: 'Ada' }), subject: '', content: '%20', templateId: id, schedule }),
    await send({ ...one({ NAME: 'Bo' }), subject: '', content: '%20', templateId: id, schedule }),
  ]
  await data('PATCH', `/template/${id}`, { content: '<p>edited</p>', subject: 'Edited', variables: [] })
  t.match(await deliver({ ...one({ NAME: 'Cy' }), subject: '', content: '%20', templateId: id }), {
    mail: { subject: 'Edited', html: '<p>edited</p>' },
  })
  await data('DELETE', `/template/${id}`)
  await service.sql`update delivery_queue set state = 'queued', next_at = service_now() where state = 'scheduled'`
  for (const [at, name] of ['Ada', 'Bo'].entries()) {
    const [copy] = await copies(late[at] as (typeof late)[0])
    t.match(copy, { mail: { subject: `For ${name}`, html: `<p>as accepted, ${name} a pen</p>` } })
  }
  t.match((await send({ content: '%20', templateId: id })).body, { error_info: { error_code: 118 } })
})
