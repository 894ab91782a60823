import t from 'tap'
import { openDashboard } from './dashboard.ts'

t.test('a key is made by a preset, with restrictions, and the list says both in words', async (t) => {
  const { service, owner, member, url } = await openDashboard(t)
  const ada = await owner()
  const { accountId } = ada
  const keys = `/app/${accountId}/keys`
  const newest = async () => (await service.core.auth.listKeys(accountId, { newestFirst: true }))[0]

  await t.test('each preset has a sentence, in English and German', async (t) => {
    const form = await (await ada.get(`${keys}/new`)).text()
    for (const text of ['Send only', 'Send and read', 'Full access', 'What became of mail', 'read messages and events'])
      t.match(form, text)
    t.match(form, /value="send" checked><span>Send only<small>\s*Accepts mail/)
    const german = await (await fetchGerman(`${keys}/new`)).text()
    for (const text of ['Nur senden', 'Senden und lesen', 'Was aus der Post wurde', 'Post senden'])
      t.match(german, text)
  })

  await t.test('send only, send and read, full access, and what is ticked', async (t) => {
    for (const [preset, scopes, said] of [
      ['send', ['send'], 'send mail'],
      [
        'read',
        ['send', 'events', 'stats', 'suppressions.read', 'templates.read'],
        'read messages and events, read statistics',
      ],
      ['agent', ['events', 'stats'], 'read messages and events, read statistics'],
      ['full', ['all'], 'everything'],
      ['own', ['webhooks', 'domains'], 'webhooks, domains'],
    ] as const) {
      const made = await post(keys, [
        ['name', preset],
        ['preset', preset],
        ['scopes', 'webhooks'],
        ['scopes', 'domains'],
      ])
      t.match(await made.text(), said)
      t.strictSame((await newest())?.scopes, scopes, preset)
    }
    await ada.post(keys, { name: 'agent', preset: 'agent', recipientDomains: 'ship.example' })
    t.strictSame((await newest())?.scopes, ['events', 'stats', 'send'], 'an agent sends where it is restricted to')
    const developer = await member(accountId, 'developer')
    await developer.post(keys, { name: 'dev', preset: 'full' })
    const { scopes = [] } = (await newest()) ?? {}
    t.ok(scopes.includes('keys') && !scopes.includes('all') && !scopes.includes('privacy'), `${scopes}`)
  })

  await t.test('all restrictions are kept; the last day is one on the clocks of the account', async (t) => {
    const by = { keyId: null, address: null }
    await service.core.accounts.settings.change(accountId, { timeZone: 'Pacific/Kiritimati' }, by)
    const page = await ada.post(keys, {
      name: 'till',
      preset: 'send',
      senderDomains: 'ship.example, Harbor.example',
      recipientDomains: 'a.example',
      templates: '5 7',
      networks: '192.0.2.0/24',
      perHour: '500',
      class: 'urgent',
      until: '2096-02-29',
    })
    t.match(
      await page.text(),
      /from ship\.example, harbor\.example.*to a\.example.*templates 5, 7.*500 recipients per hour.*urgent mail/s,
    )
    t.match(await newest(), {
      networks: ['192.0.2.0/24'],
      restrictions: {
        senderDomains: ['ship.example', 'harbor.example'],
        recipientDomains: ['a.example'],
        templates: [5, 7],
        recipientsPerHour: 500,
        class: 'urgent',
        until: new Date('2096-02-29T09:59:59Z'),
      },
    })
  })

  await t.test('what is wrong is said at its field, before the password is asked', async (t) => {
    await service.sql`update sessions set reauthenticated_at = reauthenticated_at - interval '11 minutes'`
    await service.core.people.sessions.endAll(0)
    const before = await service.core.auth.countKeys(accountId)
    for (const [field, value, problem] of [
      ['until', '2020-01-01', 'must be in the future'],
      ['until', '2096-02-30', 'must be in the future'],
      ['networks', '192.0.2.0/99', '192.0.2.0/99'],
      ['perHour', 'many', 'must be a whole number'],
      ['templates', 'x', 'must be a list of template ids'],
      ['senderDomains', 'ship..example', 'must be a list of domain names'],
    ] as const) {
      const refused = await ada.post(keys, { name: 'till', preset: 'send', [field]: value })
      t.equal(refused.status, 400, field)
      const text = await refused.text()
      t.match(text, new RegExp(`<p class="oops" id="p-${field}">[^<]*${problem.replaceAll('/', '.')}`), field)
      t.match(text, '<details open>')
      t.notMatch(text, 'Confirm that it is you')
    }
    t.match(await (await ada.post(keys, { name: 'till', preset: 'send' })).text(), 'Confirm that it is you')
    t.equal(await service.core.auth.countKeys(accountId), before)
  })

  function fetchGerman(path: string): Promise<Response> {
    return fetch(new URL(path, url), { headers: { cookie: ada.cookie, 'accept-language': 'de' } })
  }
  function post(path: string, fields: [string, string][]): Promise<Response> {
    const headers = { cookie: ada.cookie, 'sec-fetch-site': 'same-origin' }
    return fetch(new URL(path, url), { method: 'POST', headers, body: new URLSearchParams(fields), redirect: 'manual' })
  }
})
