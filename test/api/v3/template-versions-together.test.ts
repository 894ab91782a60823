import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { ask, refusedV3 } from './ask.ts'

t.test('the versions of a template have at most 30 MB together, as they are shown together', async (t) => {
  const service = await makeService(t)
  const base = await service.openApi()
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
