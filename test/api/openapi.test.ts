import { OPERATIONS } from '@postrider/api'
import t from 'tap'
import { Compile } from 'typebox/compile'
import { makeService } from '../helpers/service.ts'

t.test('the OpenAPI document', async (t) => {
  const service = await makeService(t)
  const url = await service.openApi()
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
    openapi: string
    paths: Record<string, Record<string, { operationId: string; responses: Record<string, Record<string, unknown>> }>>
  }

  await t.test('is served to programs and, with a page, to people', async (t) => {
    t.match(document.openapi, /^3\.1/)
    t.match(await (await fetch(`${url}/docs/v2`)).text(), 'href="/openapi.json"')
    for (const path of ['/docs/json', '/docs/yaml']) t.same(await (await fetch(`${url}${path}`)).json(), document, path)
  })

  await t.test(
    'tells each operation once, and once more by POST where it has another method, with its answer, its refusals and examples',
    async (t) => {
      const told = Object.values(document.paths).flatMap((methods) => Object.values(methods))
      t.same(
        told.map(({ operationId }) => operationId).sort(),
        OPERATIONS.flatMap(({ name, routes }) => (routes[0]?.[1] === 'POST' ? [name] : [name, `${name}ByPost`])).sort(),
      )
      for (const { operationId, responses } of told) {
        const untold = ['200', '400', '401', '403'].filter((status) => !(status in responses))
        t.same(untold, [], `${operationId} tells its refusals`)
        t.match(JSON.stringify(responses['200']), /example/, `${operationId} shows an answer`)
      }
    },
  )

  for (const { name, input, answer, example, routes, summary } of OPERATIONS) {
    await t.test(`${name} takes POST and its example is what its schemas say`, async (t) => {
      t.ok(routes.some(([, ...methods]) => methods.includes('POST')))
      t.ok(summary.length > 10)
      t.same([...Compile(input).Errors(example.input)], [])
      t.same([...Compile(answer).Errors(example.data)], [])
    })
  }
})
