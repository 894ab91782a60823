import t from 'tap'
import { OPERATIONS } from '../../../packages/api/src/app.ts'
import { makeService } from '../../helpers/service.ts'
import { type CallAnswer, call, errorText } from '../call.ts'

const service = await makeService(t)
const base = await service.openApi()
const sender = await service.makeSender()

/** What an operation needs besides. */
const NEEDS: Readonly<Record<string, string>> = {
  listEvents: 'startdate=2026-01-01',
  getStats: 'startdate=2026-01-01',
  getTagStats: 'startdate=2026-01-01',
  getTagSums: 'startdate=2026-01-01',
  getCredit: 'startdate=2026-01-01&enddate=2026-01-05',
}
const ask = (name: string, path: string, method: string, parameters: Record<string, unknown>): Promise<CallAnswer> => {
  const text = Object.entries(parameters).map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`)
  const query = [NEEDS[name] ?? '', ...text].filter((part) => part !== '').join('&')
  if (method === 'GET') return call(base, { method, path: `/v2${path}?${query}`, headers: { api_key: sender.apiKey } })
  const body = { ...Object.fromEntries(new URLSearchParams(NEEDS[name] ?? '')), ...parameters }
  if (name === 'exportPerson') Object.assign(body, { email: 'lena@harbor.example' })
  return call(base, { path: `/v2${path}`, headers: { api_key: sender.apiKey }, body })
}

const PAGED = OPERATIONS.filter(({ input, name }) => 'limit' in input.properties && !name.includes('Webhook'))
t.ok(PAGED.length >= 13, `${PAGED.length} operations have a limit`)
for (const { name, routes, input } of PAGED) {
  const counts = ['limit', 'offset'].filter((parameter) => parameter in input.properties)
  const methods = new Map(
    routes.flatMap(([path, ...methods]) => methods.map((method) => [String(method), path] as const)),
  )
  for (const [method, path] of methods) {
    t.test(`${method} ${path} evaluates ${counts.join(' and ')} as all others do`, async (t) => {
      for (const parameter of counts) {
        const taken = [0, 1, -1, 5000, '', '2', ' 3 ', '007', 99_999_999_999]
        for (const value of taken) {
          // Some lists are read no further than that.
          if (parameter === 'offset' && Number(value) > 5000) continue
          const answer = await ask(name, path, method, { [parameter]: value })
          t.equal(answer.status, 200, `${parameter}=${value}: ${answer.text.slice(0, 200)}`)
        }
        for (const value of ['x', '1.5', '1e3', '0x10', '1,5', '١']) {
          const answer = await ask(name, path, method, { [parameter]: value })
          t.equal(errorText(answer), `Parameter [${parameter}] is invalid: must be a whole number`, value)
        }
      }
    })
  }
}

t.test('sort is asc or desc in any case, empty as if it were absent, and nothing else', async (t) => {
  for (const sort of ['asc', 'DESC', 'Desc', '', ' asc ']) {
    t.equal((await ask('listEvents', '/logs', 'GET', { sort })).status, 200, sort)
  }
  for (const sort of ['up', '1', 'ascending']) {
    const text = errorText(await ask('listEvents', '/logs', 'POST', { sort }))
    t.equal(text, 'Parameter [sort] is invalid: must be asc or desc')
  }
})
