import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { call, errorText } from '../call.ts'

const service = await makeService(t)
const url = await service.openApi()
const { apiKey } = await service.makeSender()
const LISTS = [
  ['/webhooks', 'events', { url: 'https://hooks.example/in' }],
  ['/keys', 'scopes', { name: 'x' }],
  ['/gdpr/forget', 'email', {}],
  ['/events/feed', 'types', {}],
  ['/logs', 'events', { startdate: '2026-01-05' }],
] as const

for (const [path, parameter, others] of LISTS) {
  t.test(`${path} answers 113 for a list of more than 20,000 entries between commas in ${parameter}`, async (t) => {
    const body = { ...others, [parameter]: 'a,'.repeat(20_001) }
    const answer = await call(url, { path: `/v2${path}`, headers: { api_key: apiKey }, body })
    t.match(answer, { status: 400, json: { error_info: { error_code: 113 } } })
    t.equal(errorText(answer), `Parameter [${parameter}] is invalid: must have at most 20000 entries`)
  })
}
