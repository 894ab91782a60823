import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { accountCalls, refusedIn } from './account-calls.ts'

const service = await makeService(t)
const base = await service.openApi()
const { ask, data } = accountCalls(base, (await service.makeSender()).apiKey)
const refused = refusedIn('Template')

t.test('159: the versions of an account’s templates have at most 10 GB in all', async (t) => {
  const { templateId: id } = await data<{ templateId: number }>('POST', '/template', {
    templateName: 'a',
    content: 'x',
  })
  // Copies of a compressed value are cheap: 10,239 MB take 120. A few at a time, since the server cancels a statement after 15 s.
  await service.sql`
    insert into template_versions (template_id, number, content)
    select ${id}::int, 2, repeat('x', 10 * 1024 * 1024) union all select ${id}, 3, repeat('x', 9 * 1024 * 1024)`
  for (let first = 4; first <= 1025; first += 100)
    await service.sql`
      insert into template_versions (template_id, number, content)
      select template_id, at, content from template_versions, generate_series(${first}::int, least(${first} + 99, 1025)) at
      where template_id = ${id} and number = 2`
  const content = 'x'.repeat(2 * 1024 * 1024)
  const { templateId: other } = await data<{ templateId: number }>('POST', '/template', {
    templateName: 'b',
    content: 'x',
  })
  for (const path of ['/template', `/template/${other}/versions`]) {
    refused(t, await ask('POST', path, { templateName: 'c', content }), [159])
  }
  refused(t, await ask('PATCH', `/template/${other}`, { templateName: 'd', content }), [159])
  t.match(await data('GET', `/template/${other}`), { templateName: 'b', content: 'x', version: 1 })
  t.ok(await data('PATCH', `/template/${other}`, { templateName: 'd', content: 'y' }))
  await data('DELETE', `/template/${id}`)
  t.ok(await data('POST', `/template/${other}/versions`, { content }))
})
