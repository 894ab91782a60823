import { OPERATOR } from '@postrider/core'
import t from 'tap'
import { openDashboard } from './dashboard.ts'

t.test('the page of a domain has what each receiver demands and what is to be done, in both languages', async (t) => {
  const { owner, service, url } = await openDashboard(t)
  const ada = await owner()
  await service.giveKey('ship.example')
  const { id } = await service.core.domains.add({ accountId: ada.accountId, name: 'ship.example', state: 'active' })
  const dmarc = { state: 'missing', host: null, problem: 'no DMARC record applies to the domain' }
  await service.sql`
    insert into domain_guards (domain_id, dmarc, organisational, checked_at, lacks)
    values (${id}, ${JSON.stringify(dmarc)}::text::jsonb, 'ship.example', service_now(), '{dmarc}')`
  const rowsIn = async (language: string) => {
    const headers = { cookie: ada.cookie, 'accept-language': language }
    const text = await (await fetch(`${url}/app/${ada.accountId}/domains/ship.example`, { headers })).text()
    const rows = [...text.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) => row.replace(/<[^>]+>|\s+/g, ' ').trim())
    return { rows: rows.map((row) => row.replaceAll(/ +/g, ' ')), text }
  }
  const { rows, text } = await rowsIn('en')
  const isHeld = 'Bulk mail from this domain waits'
  t.notMatch(text, isHeld)
  await service.core.accounts.settings.change(ada.accountId, { requirements: 'hold' }, OPERATOR)
  t.match((await rowsIn('en')).text, isHeld)
  t.equal(rows[0], 'Requirement Gmail Yahoo Microsoft')
  t.ok(rows.includes('SPF Not known Not known Not known'), rows.join('\n'))
  t.match(
    rows.find((row) => row.startsWith('DMARC')),
    /^DMARC record Publish the DMARC record above\. .* no DMARC record applies to the domain Missing Missing Missing$/,
  )
  t.ok(rows.includes('One-click unsubscribe Not needed Not needed'), 'Microsoft does not demand it')
  t.match(text, /href="https:\/\/support\.google\.com\/a\/answer\/81126"[^>]*>Gmail<\/a> \(read on 2026-11-29\)/)
  t.match(
    (await rowsIn('de')).rows[3],
    /^DMARC-Eintrag Tragen Sie den DMARC-Eintrag von oben ein\. .* Fehlt Fehlt Fehlt$/,
  )
})
