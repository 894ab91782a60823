import { parseSearch } from '@postrider/core'
import t from 'tap'
import { openDashboard, type TestVisitor } from './dashboard.ts'
import { member } from './members.ts'

const HOSTILE = '</textarea><script>alert(1)</script>'

t.test('templates', async (t) => {
  const dashboard = await openDashboard(t)
  const { service } = dashboard
  const { core } = service
  const sender = await service.makeSender()
  const { accountId } = sender
  const ada = await member(dashboard, sender, 'developer')
  const at = `/app/${accountId}/templates`
  const textOf = async (path: string, visitor: TestVisitor = ada) => (await visitor.get(path)).text()
  const goTo = (response: Response) => (response.headers.get('location') ?? '').split('?')[0] as string

  await t.test('the empty list teaches what templates are', async (t) => t.match(await textOf(at), 'No templates yet'))

  const page = goTo(await ada.post(at, { name: `order ${HOSTILE}`, kind: 'dynamic' }))
  const id = page.split('/').at(-1) as string
  const { versions } = await core.editableTemplates.show(accountId, id)
  const version = `${page}/versions/${versions[0]?.id}`

  await t.test(
    'a new template has a sample as its active version, which is filled in with its test data',
    async (t) => {
      t.equal(versions.length, 1)
      t.equal(versions[0]?.active, true)
      const text = await textOf(page)
      t.match(text, '&lt;h1&gt;Thank you, {{name}}!')
      t.match(text, 'Every name has a value')
      t.match(text, 'order &lt;/textarea&gt;')
      t.notMatch(text, '<script>alert')
      t.match(await textOf(`${version}/preview`), '<h1>Thank you, Ada!</h1>')
      t.match(await textOf(`${version}/preview?part=text`), /^Thank you, Ada!$/m)
    },
  )

  await t.test('a preview has no origin, runs nothing, and loads nothing from elsewhere', async (t) => {
    const { headers } = await ada.get(`${version}/preview`)
    t.match(headers.get('content-security-policy'), /^sandbox; default-src 'none'; img-src data:;/)
    t.match(await textOf(version), `sandbox="" src="${version}/preview"`)
  })

  const form = {
    subject: 'Order {{number}}',
    html: `<p>{{shop.name}}</p>\r\n${HOSTILE}`,
    plain: '',
    testData: '{"number":7}',
  }

  await t.test('a new version is not active until it is activated, and names without a value are listed', async (t) => {
    const made = goTo(await ada.post(version, { ...form, as: 'new', generatePlain: 'on' }))
    t.not(made, version)
    const text = await textOf(made)
    t.match(text, 'is not active')
    t.match(text, '1 name without a value')
    t.match(text, '<code>shop.name</code>')
    t.match(text, 'Filled in: Order 7')
    t.match(text, '&lt;/textarea&gt;&lt;script&gt;')
    t.notMatch(text, '<script>alert')
    t.match((await core.editableTemplates.find(accountId, id))?.html, 'Thank you')
    t.match((await ada.post(`${made}/activate`)).headers.get('location'), 'said=activated')
    const active = await core.editableTemplates.find(accountId, id)
    t.equal(active?.html, form.html.replace('\r\n', '\n'))
    t.equal(active?.subject, form.subject)
  })

  await t.test('a version is saved in place, and what cannot be stored is refused with what was entered', async (t) => {
    t.match((await ada.post(version, { ...form, html: '<b>{{number}}</b>' })).headers.get('location'), 'said=saved')
    t.equal(await textOf(`${version}/preview`), '<b>7</b>')
    const refused = await ada.post(version, { ...form, testData: '{no', html: 'entered' })
    t.equal(refused.status, 400)
    const text = await refused.text()
    t.match(text, 'must be JSON')
    t.match(text, '\nentered</textarea>')
    t.equal(await textOf(`${version}/preview`), '<b>7</b>')
    await ada.post(version, { ...form, html: '{{#if x}}' })
    t.match(await textOf(version), /Messages would fail.*HTML, line 1, column 1/s)
  })

  await t.test(
    'a version from which no message can be built is marked on its page, among the versions and in the list',
    async (t) => {
      const active = `${page}/versions/${(await core.editableTemplates.find(accountId, id))?.id}`
      const fine = await textOf(active)
      t.notMatch(await textOf(at), 'Messages would fail')
      await ada.post(active, { ...form, subject: '{{lookup a b}}', html: '{{#if (eq a "b")}}{{/if}}', testData: '' })
      const text = await textOf(active)
      t.match(
        text,
        /Mail with it is dropped.*Subject, line 1, column 1: unknown helper.*HTML, line 1, column 7: unknown helper/s,
      )
      t.match(text, /<span>active<\/span><\/span><span class="state bad">.*Messages would fail/)
      t.match(await textOf(at), 'Messages would fail')
      await ada.post(active, form)
      t.notMatch(await textOf(at), 'Messages would fail')
      t.notMatch(fine, 'is dropped')
    },
  )

  await t.test('what is typed is shown before it is saved, or why messages would fail', async (t) => {
    const draft = async (typed: object) => {
      const answered = await ada.post(`${version}/preview`, { ...form, ...typed })
      t.match(answered.headers.get('content-security-policy'), /^sandbox; default-src 'none'/)
      return `${answered.status} ${answered.headers.get('content-type')?.split(';')[0]} ${await answered.text()}`
    }
    const saved = await textOf(`${version}/preview`)
    t.equal(await draft({ html: '<i>{{number}}</i>' }), '200 text/html <i>7</i>')
    t.match(await draft({ html: '{{#if x}}' }), /^200 text\/plain Messages would fail: .*line 1, column 1/)
    t.equal(
      await draft({ testData: '{no' }),
      '200 text/plain Messages would fail: line 1, column 2: The test data is not JSON.',
    )
    t.equal(await textOf(`${version}/preview`), saved)
  })

  await t.test('a test goes to the visitor, from a domain of the account, as the recipient would see it', async (t) => {
    await ada.post(version, { ...form, html: '<b>{{number}} [%LITERAL%]</b>' })
    t.match((await ada.post(`${version}/test`)).headers.get('location'), 'said=sent')
    const { deliveries } = await core.messages.list({ accountId, search: parseSearch(''), limit: 10 })
    const [message] = deliveries
    t.match(message, { subject: 'Order 7' })
    const whole = await core.messages.show(message?.messageId as string, { accountId })
    t.match(whole?.deliveries[0]?.recipient, '@people.example')
    await ada.post(version, { ...form, html: '{{#if x}}' })
    t.equal((await ada.post(`${version}/test`)).status, 400)
    const other = await core.accounts.create('without a domain')
    const eve = await member(dashboard, { accountId: other.id })
    const made = goTo(await eve.post(`/app/${other.id}/templates`, { name: 'one', kind: 'merge' }))
    t.match(await (await eve.post(`${made}/versions/1/test`)).text(), 'no active domain')
  })

  await t.test('templates with merge tags get a version for each change', async (t) => {
    const merge = goTo(await ada.post(at, { name: 'berth', kind: 'merge' }))
    const number = Number(merge.split('/').at(-1))
    t.match(await textOf(at), /<bdi>berth<\/bdi>.*Merge tags.*<bdi>order.*Dynamic/s, 'one list has both kinds')
    t.match(await textOf(merge), '<code>NAME</code>')
    const second = goTo(await ada.post(`${merge}/versions/1`, { subject: 'S', html: '<i>[%X%]</i>' }))
    t.equal(second, `${merge}/versions/2`)
    t.equal((await core.templates.show(accountId, number)).version, 1)
    await ada.post(`${second}/activate`)
    t.equal((await core.templates.show(accountId, number)).content, '<i>[%X%]</i>')
    const third = goTo(await ada.post(second, { subject: 'S', html: '<i>[%X%]</i>', plain: 'Ahoy\r\n[%X%]' }))
    t.match(await core.templates.version(accountId, number, 3), { text: 'Ahoy\n[%X%]' })
    t.match(await textOf(third), /name="plain"[^>]*>\s*Ahoy\n\[%X%\]<\/textarea>/)
    t.match(await textOf(`${third}/preview?part=text`), /^Ahoy$/m)
    t.match((await ada.post(at, { name: 'berth', kind: 'merge' })).status, 400)
    t.match((await ada.post(`${merge}/remove`)).headers.get('location'), 'said=removed')
    t.equal((await ada.get(merge)).status, 404)
  })

  await t.test('a template that the v3 API made without a version gets its first one here', async (t) => {
    const by = { keyId: null, address: null }
    const { id: bare } = await core.editableTemplates.create({ accountId, name: 'bare', generation: 'dynamic', by })
    const text = await textOf(`${at}/${bare}`)
    t.match(text, 'This template has no version yet')
    t.match(text, `action="${at}/${bare}/versions"`)
    const refused = await ada.post(`${at}/${bare}/versions`, { ...form, as: 'new', testData: '{no', html: 'entered' })
    t.equal(refused.status, 400)
    t.match(await refused.text(), '\nentered</textarea>')
    const made = goTo(await ada.post(`${at}/${bare}/versions`, { ...form, as: 'new', testData: '' }))
    t.match(made, `${at}/${bare}/versions/`)
    const shown = await ada.get(made)
    t.equal(shown.status, 200, 'a version without test data')
    t.match(await shown.text(), '2 names without a value')
    t.equal((await ada.get(`${made}/preview`)).status, 200)
    t.equal((await core.editableTemplates.find(accountId, bare))?.subject, form.subject)
  })

  await t.test('the list has the subject of the active version, and how many there are', async (t) => {
    const text = await textOf(at)
    t.match(text, 'order &lt;/textarea&gt;')
    t.match(text, /Order \{\{number\}\}.*<td class="n wide-only dim">2<\/td>/s)
  })

  await t.test('other roles and accounts reach none of it', async (t) => {
    const support = await member(dashboard, sender, 'support')
    const other = await member(dashboard, await service.makeSender())
    const foreign = version.replace(`/${accountId}/`, `/${other.accountId}/`)
    for (const path of ['', '/preview']) {
      t.equal((await support.get(`${version}${path}`)).status, 403, path)
      t.equal((await other.get(`${version}${path}`)).status, 404, path)
      t.equal((await other.get(`${foreign}${path}`)).status, 404, path)
    }
    for (const path of ['', '/activate', '/test']) {
      t.equal((await support.post(`${version}${path}`, form)).status, 403, path)
      t.equal((await other.post(`${foreign}${path}`, form)).status, 404, path)
    }
    for (const strange of ['0', '-1', 'x', '1e3', '99999999999999999999', '%00', 'd-00000000000000000000000000000000'])
      t.equal((await ada.get(`${at}/${strange}`)).status, 404, strange)
    for (const strange of ['1', 'x', '%00'])
      t.equal((await ada.get(`${page}/versions/${strange}`)).status, 404, strange)
  })

  await t.test('a template is deleted with its versions', async (t) => {
    t.match((await ada.post(`${page}/remove`)).headers.get('location'), `${at}?said=removed`)
    t.equal((await ada.get(page)).status, 404)
  })
})
