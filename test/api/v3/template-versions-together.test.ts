import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { ask, refusedV3 } from './ask.ts'

const service = await makeService(t)
const base = await service.openApi()

t.test('the versions of a template have at most 30 MB together, as they are shown together', async (t) => {
  const { apiKey: key } = await service.makeSender()
  const call = (method: string, path: string, body?: unknown) => ask(base, { key, method, path, body })
  const made = await call('POST', '/templates', { name: 'a', generation: 'dynamic' })
  const path = `/templates/${made.json?.id}/versions`
  const content = 'x'.repeat(9_000_000)
  const large = { name: 'v', subject: 's', html_content: content, plain_content: content }
  const half = { ...large, plain_content: 'x' }
  const first = await call('POST', path, large)
  t.equal(first.status, 201)
  const refusal = [400, /all versions of a template must not exceed 30 MB in total/, 'html_content'] as const
  refusedV3(t, await call('POST', path, large), refusal)
  const second = await call('POST', path, half)
  t.equal(second.status, 201)
  refusedV3(t, await call('PATCH', `${path}/${second.json?.id}`, { plain_content: content }), refusal)
  t.equal((await call('PATCH', `${path}/${first.json?.id}`, { html_content: 'y', plain_content: 'y' })).status, 200)
  t.equal((await call('PATCH', `${path}/${second.json?.id}`, { plain_content: content })).status, 200)
})

t.test('test data counts towards the 30 MB of a template, and a send does not read it', async (t) => {
  const { apiKey: key, accountId } = await service.makeSender()
  const call = (method: string, path: string, body?: unknown) => ask(base, { key, method, path, body })
  const made = await call('POST', '/templates', { name: 'a', generation: 'dynamic' })
  const id = String(made.json?.id)
  const path = `/templates/${id}/versions`
  // 3 bytes in UTF-8 each: the limit of one text is in characters.
  const data = JSON.stringify('€'.repeat(1_048_000))
  const version = { name: 'v', subject: 's', test_data: data }
  const first = await call('POST', path, version)
  t.equal(first.status, 201)
  await service.sql`
    insert into editable_versions (account_id, template_id, id, active, name, subject, html, plain, generate_plain, editor, test_data)
    select account_id, template_id, gen_random_uuid(), false, name, subject, html, plain, generate_plain, editor, test_data
      from editable_versions, generate_series(1, 9) where template_id = ${id}`
  const problem = /all versions of a template must not exceed 30 MB in total/
  refusedV3(t, await call('POST', path, version), [400, problem, 'html_content'])
  const small = await call('POST', path, { ...version, test_data: '1' })
  t.equal(small.status, 201)
  refusedV3(t, await call('PATCH', `${path}/${small.json?.id}`, { test_data: data }), [400, problem, 'test_data'])
  t.equal((await call('PATCH', `${path}/${first.json?.id}`, { test_data: '' })).status, 200)
  t.equal((await call('PATCH', `${path}/${small.json?.id}`, { test_data: data })).status, 200)
  const active = await service.core.editableTemplates.find(accountId, id)
  t.match(active, { id: first.json?.id })
  t.notOk(active && 'testData' in active)
})
