import { OPERATIONS } from '@postrider/api'
import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { call } from '../call.ts'

const service = await makeService(t)
const base = await service.openApi()
const sender = await service.makeSender()
const post = (path: string, body: Record<string, unknown> | string) =>
  call(base, { path: `/v2${path}`, headers: { api_key: sender.apiKey, 'content-type': 'application/json' }, body })

t.test('each path that takes another method takes POST as well, except for DELETE of what it names', async (t) => {
  const methods = new Map<string, string[]>()
  for (const { routes } of OPERATIONS) {
    for (const [path, ...own] of routes) methods.set(path, [...(methods.get(path) ?? []), ...own.map(String)])
  }
  const without = [...methods].filter(([, own]) => !own.includes('POST') && own.some((method) => method !== 'DELETE'))
  t.strictSame(without, [])
})

t.test('a version of a template is shown by POST at its own path', async (t) => {
  const template = await post('/template', { templateName: 'a', content: '<p>C</p>' })
  const { templateId } = (template.json?.data ?? {}) as { templateId?: number }
  const path = `/template/${templateId}/versions/1`
  const shown = await post(path, '')
  t.equal(shown.status, 200, shown.text)
  t.equal(
    shown.text,
    (await call(base, { method: 'GET', path: `/v2${path}`, headers: { api_key: sender.apiKey } })).text,
  )
})

t.test('the OpenAPI document has a POST spelling of every operation', async (t) => {
  const { paths } = (await (await fetch(`${base}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { operationId: string; requestBody?: unknown }>>
  }
  const posts = Object.values(paths).flatMap(({ post }) => (post ? [post.operationId] : []))
  for (const { name, routes } of OPERATIONS) {
    const spelling = routes[0]?.[1] === 'POST' ? name : `${name}ByPost`
    t.ok(posts.includes(spelling), spelling)
  }
  t.match(paths['/v2/getTemplate']?.post, { operationId: 'viewTemplateByPost', requestBody: Object })
})

t.test('stats/export without a body is 110, and 113 with none of its parameters', async (t) => {
  for (const path of ['/stats/export', '/stats/export/stream']) {
    for (const body of ['', '{}']) t.match((await post(path, body)).json, { error_info: { error_code: 110 } }, path)
    for (const body of [{ foo: 1 }, { startdate: '' }, { startdate: null, events: 'sent' }]) {
      t.match((await post(path, body)).json, {
        error_info: { error_code: 113, error_message: 'Parameter [startdate] not passed' },
      })
    }
  }
  const bare = await call(base, { method: 'GET', path: '/v2/stats/export', headers: { api_key: sender.apiKey } })
  t.match(bare.json, { error_info: { error_code: 113 } })
  t.match((await post('/stats/export', { startdate: '2026-01-01' })).json, { error_info: { error_code: 1106 } })
})
