import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { changeWords } from '../../packages/dashboard/src/pages/audit/change-words.ts'
import { openDashboard } from './dashboard.ts'

t.test('the audit log has sentences with names, in both languages, and can be filtered by who it was', async (t) => {
  const { service, owner, member, url } = await openDashboard(t)
  const ada = await owner()
  const { accountId } = ada
  const { core } = service
  const path = `/app/${accountId}/audit`
  const lee = await member(accountId, 'developer')
  await ada.post(`/app/${accountId}/keys`, { name: 'Shop <b>', preset: 'send' })
  const [shop] = await core.auth.listKeys(accountId, { newestFirst: true })
  await lee.post(`/app/${accountId}/templates`, { name: 'order', kind: 'merge' })
  const byKey = { keyId: shop?.id as number, address: '192.0.2.9' }
  await core.templates.create({ accountId, name: 'berth', content: 'x', by: byKey })
  const byAgent = { ...byKey, agent: 'harbor-agent <1>' }
  await core.templates.create({ accountId, name: 'quay', content: 'x', by: byAgent })
  await core.accounts.settings.change(accountId, { bodyDays: 7 }, { keyId: null, address: null })
  const plain = (text: string) => text.replace(/<summary.*?<\/details>/gs, '').replace(/<[^>]*>/g, '')
  const english = plain(await (await ada.get(path)).text())
  t.match(english, 'Ada Lovelace created the key “Shop &lt;b&gt;”.')
  t.match(english, 'May: send mail.')
  t.match(english, `${lee.name} created the template “order”.`)
  t.match(english, 'The key “Shop &lt;b&gt;” created the template “berth”.')
  t.match(english, 'created the template “quay”.By an agent, through harbor-agent &lt;1&gt;')
  t.match(english, 'The operator or the service changed the settings of the account.')
  t.match(english, 'Changed: bodyDays.')
  t.notMatch(english, 'key.create', 'the raw entry is behind a fold')
  const headers = { cookie: ada.cookie, 'accept-language': 'de' }
  const german = plain(await (await fetch(`${url}${path}`, { headers })).text())
  t.match(german, 'Ada Lovelace hat den Schlüssel „Shop &lt;b&gt;“ angelegt.')
  t.match(german, 'Darf: Post senden.')
  t.match(german, 'Von einem Agenten, über harbor-agent &lt;1&gt;')
  const whole = await (await ada.get(path)).text()
  t.match(whole, `href="${path}?user=${lee.userId}"`)
  const byLee = plain(await (await ada.get(`${path}?user=${lee.userId}`)).text())
  t.match(byLee, 'created the template “order”')
  t.notMatch(byLee, 'created the key')
  t.match(await (await ada.get(`${path}?user=${lee.userId}&kind=key`)).text(), 'No such change')
})

/** What looks like the name of a change and is none: events, a file, a scope; and changes of all accounts, which no account lists. */
const OTHERS = [
  'domain.inactive',
  'key.expiring',
  'webhook.disabled',
  'message.eml',
  'account.read',
  'operator.add',
  'operator.remove',
]

t.test('every change that the log of an account can have has a sentence, in both languages', (t) => {
  const core = fileURLToPath(new URL('../../packages/core/src', import.meta.url))
  const kinds =
    'account|attachment|batch|credit|domain|export|failures|group|invitation|key|member|message|operator|privacy|subaccount|suppression|template|tls|webhook'
  const named = new RegExp(`'((?:${kinds})\\.[a-zA-Z0-9-]+)'`, 'g')
  const actions = new Set(
    globSync('**/*.ts', { cwd: core }).flatMap((file) =>
      [...readFileSync(`${core}/${file}`, 'utf8').matchAll(named)].map(([, action]) => action as string),
    ),
  )
  t.ok(actions.size > 60, `${actions.size} changes`)
  for (const language of ['en', 'de'] as const) {
    const { did } = changeWords(language)
    const missing = [...actions].filter((action) => !Object.hasOwn(did, action) && !OTHERS.includes(action))
    t.strictSame(missing, [], language)
  }
  t.end()
})
