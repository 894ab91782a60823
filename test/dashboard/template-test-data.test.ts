import { parseSearch } from '@postrider/core'
import t from 'tap'
import { openDashboard } from './dashboard.ts'
import { member } from './members.ts'

const goTo = (response: Response) => (response.headers.get('location') ?? '').split('?')[0] as string
const shownOf = (text: string) => /name="shown" value="([^"]*)"/.exec(text)?.[1] as string

t.test('test data are entered by name, or as JSON', async (t) => {
  const dashboard = await openDashboard(t)
  const { core } = dashboard.service
  const sender = await dashboard.service.makeSender()
  const { accountId } = sender
  const ada = await member(dashboard, sender, 'developer')
  const at = `/app/${accountId}/templates`
  const textOf = async (path: string) => (await ada.get(path)).text()
  const texts = { subject: 'Order {{number}}', plain: '', generatePlain: 'on' }
  const html = '{{shop.name}} {{#if gift}}x{{/if}}{{#each items}}{{name}}{{../number}}{{/each}}'
  const page = goTo(await ada.post(at, { name: 'order', kind: 'dynamic' }))
  const version = goTo(
    await ada.post(page.replace(/$/, '/versions'), { ...texts, html, testData: '{"number":7,"items":[]}' }),
  )
  const id = page.split('/').at(-1) as string
  const storedData = async () =>
    (await core.editableTemplates.version(accountId, id, version.split('/').at(-1) as string)).testData

  await t.test('each name that the texts take has a field; a list is said to be written in the JSON', async (t) => {
    const text = await textOf(version)
    t.match(text, /name="value\.number" type="text" value="7"/)
    t.match(text, 'name="value.shop.name"')
    t.match(text, 'name="value.gift"')
    t.match(text, /<code>items<\/code> is a list or an object/)
    t.notMatch(text, 'name="value.name"', 'a name of an item is not one of the data')
    t.notMatch(text, 'name="value.items"')
  })

  await t.test('without scripts, a field changes the JSON that was not touched, and a number stays one', async (t) => {
    const shown = shownOf(await textOf(version))
    const form = { ...texts, html, testData: '{"number":7,"items":[]}', shown }
    await ada.post(version, { ...form, 'value.number': '8', 'value.shop.name': 'Harbor', 'value.gift': '' })
    t.same(JSON.parse((await storedData()) as string), { number: 8, items: [], shop: { name: 'Harbor' } })
    t.match(await textOf(`${version}/preview`), /^Harbor/)
  })

  await t.test('who changed the JSON meant the JSON', async (t) => {
    const shown = shownOf(await textOf(version))
    await ada.post(version, { ...texts, html, testData: '{"number":9}', shown, 'value.number': '10' })
    t.same(JSON.parse((await storedData()) as string), { number: 9 })
  })

  await t.test('data that are nested too deep are refused, and those that are stored can be replaced', async (t) => {
    const shown = shownOf(await textOf(version))
    const before = await storedData()
    const deep = `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
    const refused = await ada.post(version, { ...texts, html, testData: deep, shown })
    t.equal(refused.status, 400)
    t.match(await refused.text(), 'must be nested at most 64 levels deep')
    t.equal(await storedData(), before)
    const checked = await ada.post(`${version}/check`, { ...texts, html, testData: deep })
    t.match(await checked.text(), /line 1, column 69<\/a>: The test data is nested more than 64 levels/i)
    await dashboard.service
      .sql`update editable_versions set test_data = ${deep} where id = ${version.split('/').at(-1) as string}::uuid`
    const page = await textOf(version)
    const touched = { ...texts, html, testData: deep, shown: shownOf(page), 'value.number': '1' }
    t.equal((await ada.post(version, touched)).status, 400)
    t.equal((await ada.post(version, { ...texts, html, testData: '{"number":9}' })).status, 303)
  })

  await t.test('a field does not reach beyond the data', async (t) => {
    const hostile = { 'value.__proto__.polluted': 'x', 'value.constructor.name': 'y', 'value.number.a': 'z' }
    const shown = shownOf(await textOf(version))
    t.equal((await ada.post(version, { ...texts, html, testData: '{"number":9}', shown, ...hostile })).status, 303)
    t.same(JSON.parse((await storedData()) as string), { number: 9, constructor: { name: 'y' } })
    t.equal(({} as { polluted?: string }).polluted, undefined)
  })

  await t.test('templates with merge tags keep their test data, without a version of its own', async (t) => {
    const merge = goTo(await ada.post(at, { name: 'berth', kind: 'merge' }))
    const number = Number(merge.split('/').at(-1))
    const form = { subject: 'Hello [%NAME%]', html: '<h1>[%NAME%] [%SHOP.CITY%]</h1>', plain: '' }
    const second = goTo(await ada.post(`${merge}/versions/1`, { ...form, testData: '{"NAME":"Ada"}' }))
    t.equal(second, `${merge}/versions/2`)
    const text = await textOf(second)
    t.match(text, /name="value\.NAME" type="text" value="Ada"/)
    t.match(text, 'name="value.SHOP.CITY"')
    t.match(text, '1 name without a value')
    t.equal(await textOf(`${second}/preview`), '<h1>Ada </h1>')
    const shown = shownOf(text)
    const again = goTo(
      await ada.post(second, { ...form, testData: '{"NAME":"Ada"}', shown, 'value.SHOP.CITY': 'Oslo' }),
    )
    t.equal(again, second, 'only the data changed')
    t.equal(await textOf(`${second}/preview`), '<h1>Ada Oslo</h1>')
    t.same(JSON.parse((await core.templates.testData(accountId, number)) as string), {
      NAME: 'Ada',
      'SHOP.CITY': 'Oslo',
    })
    t.equal(
      await (await ada.post(`${second}/preview`, { ...form, html: '[%NAME%]!', testData: '{"NAME":"Bo"}' })).text(),
      'Bo!',
    )
    t.equal((await ada.post(second, { ...form, testData: '{no' })).status, 400)
    const entries = await core.audit.latest(accountId, { limit: 10 })
    t.match(
      entries.map(({ action }) => action),
      ['template.test-data'],
    )
    t.notMatch(JSON.stringify(entries), 'Oslo', 'the log has no test data')
  })
})

t.test('what is typed is checked with the places of problems, and is sent as a test without being saved', async (t) => {
  const dashboard = await openDashboard(t)
  const { core } = dashboard.service
  const sender = await dashboard.service.makeSender()
  const { accountId } = sender
  const ada = await member(dashboard, sender, 'developer')
  const page = goTo(await ada.post(`/app/${accountId}/templates`, { name: 'order', kind: 'dynamic' }))
  const id = page.split('/').at(-1) as string
  const { versions } = await core.editableTemplates.show(accountId, id)
  const version = `${page}/versions/${versions[0]?.id}`
  const form = { subject: 'S', plain: 'Text {{a}}', testData: '{"a": "1"}' }
  const checked = async (typed: object) => (await ada.post(`${version}/check`, { ...form, ...typed })).text()

  t.match(
    await checked({ html: '{{a}} {{b}}' }),
    /id="hints".*1 name without a value.*<code>b<\/code>.*id="text-shown"[^>]*>Text 1<.*name="value\.b"/s,
  )
  t.match(
    await checked({ html: 'x\n  {{#if a}}' }),
    /Messages would fail.*href="#f-html" data-line="2" data-column="3">HTML, line 2, column 3/s,
  )
  const json = [
    ['{\n "a": tru}', 2, 10],
    ['{"a": 1,}', 1, 9],
    ['{"a"', 1, 5],
    ['', undefined, undefined],
  ] as const
  for (const [testData, line, column] of json) {
    const text = await checked({ html: 'x', testData })
    if (line === undefined) t.notMatch(text, 'not JSON')
    else
      t.match(
        text,
        `data-line="${line}" data-column="${column}">Test data, line ${line}, column ${column}</a>: The test data is not JSON.`,
        testData,
      )
  }
  const sent = await ada.post(`${version}/test`, { ...form, subject: 'Typed', html: '<b>{{a}}</b>' })
  const text = await sent.text()
  t.match(text, 'What you typed is not saved yet')
  t.match(text, '&lt;b&gt;{{a}}&lt;/b&gt;</textarea>')
  t.match(text, 'data-unsaved="typed"')
  const { deliveries } = await core.messages.list({ accountId, search: parseSearch(''), limit: 1 })
  t.match(deliveries, [{ subject: 'Typed' }])
  t.notMatch((await core.editableTemplates.find(accountId, id))?.subject, 'Typed')
  const other = await member(dashboard, await dashboard.service.makeSender())
  t.equal((await other.post(`${version}/check`, { ...form, html: '' })).status, 404)
  const support = await member(dashboard, sender, 'support')
  t.equal((await support.post(`${version}/check`, { ...form, html: '' })).status, 403)
})
