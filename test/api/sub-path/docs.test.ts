import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { crawl } from './crawl.ts'
import { KINDS, PATH, startSubPathProxy } from './proxy.ts'

for (const kind of KINDS) {
  t.test(`behind a proxy that ${kind} the path, the documentation is read below it`, async (t) => {
    const proxy = await startSubPathProxy(t, kind)
    const service = await makeService(t, proxy.settings)
    proxy.leadTo(service)
    await service.openApi()
    const { answers, faults } = await crawl(proxy, { start: `${PATH}/docs`, within: `${PATH}/docs` })
    t.strictSame(faults, [])
    t.strictSame(
      [...answers].filter(([, [status]]) => status >= 400),
      [],
    )
    t.ok(answers.size > 200, `${answers.size} pages and files`)
    for (const part of ['guides/sending', 'v2/sendEmail', 'v3/sendMail', 'operator/getQueues', 'search'])
      t.ok(answers.has(`${PATH}/docs/${part}`), part)
    const found = await (await fetch(`${proxy.publicUrl}/docs/search?q=webhook`)).text()
    t.match(found, `<a class="go" href="${PATH}/docs/guides/webhooks`)
    const operation = await (await fetch(`${proxy.publicUrl}/docs/v2/sendEmail`)).text()
    t.match(operation, `${proxy.publicUrl}/v2/sendEmail`, 'examples are for this installation')
    const missing = await fetch(`${proxy.publicUrl}/docs/nothing`)
    t.equal(missing.status, 404)
    t.match(await missing.text(), `href="${PATH}/docs/search"`)
    t.strictSame(proxy.strays, [])
  })
}
