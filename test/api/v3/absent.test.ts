import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { ask } from './ask.ts'
import { ABSENT } from './conformance/absent.ts'

const service = await makeService(t)
const base = await service.openApi()
const { apiKey: key } = await service.makeSender()

t.test('operations of the provider that are not here get 404, or 405 where the path has others', async (t) => {
  for (const one of ABSENT.flatMap(({ operations }) => operations)) {
    const [method = '', path = ''] = one.split(' /v3')
    const answer = await ask(base, { method, path, key, ...(method === 'GET' ? {} : { body: {} }) })
    t.ok([404, 405].includes(answer.status), `${one}: ${answer.status} ${answer.text}`)
    t.match(answer.json, { errors: [{ message: /./ }] }, one)
  }
})
