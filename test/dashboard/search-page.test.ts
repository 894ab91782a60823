import t from 'tap'
import { acceptMessage, envelopeTo } from '../core/submission.ts'
import { openBrowser, skipWithoutBrowser } from '../helpers/browser.ts'
import { openDashboard, sendingOwner } from './dashboard.ts'

t.test('the page says in its language what is wrong with a search, what was searched, and since when', async (t) => {
  const dashboard = await openDashboard(t)
  const ada = await sendingOwner(dashboard)
  await acceptMessage(dashboard.service, ada, {
    subject: 'Ihre Rechnung',
    envelopes: [envelopeTo('lena@harbor.example')],
  })
  const shown = async (query: string, language: string) => {
    const headers = { cookie: ada.cookie, 'accept-language': language }
    const answer = await fetch(`${dashboard.url}/app/${ada.accountId}/messages?q=${encodeURIComponent(query)}`, {
      headers,
    })
    const text = await answer.text()
    return {
      status: answer.status,
      problem: /role="alert">.*?<p>(.*?)<\/p>/s.exec(text)?.[1]?.replaceAll('&quot;', '"'),
      text,
    }
  }
  for (const [query, english, german] of [
    ['colour:red', 'colour: is not a key. Keys are to, from,', 'colour: ist kein Schlüssel. Schlüssel sind to, from,'],
    ['state:lost', 'state:lost is not a state. States are', 'state:lost ist kein Zustand. Zustände sind'],
    ['after:soon', 'after:soon is not a time. Write', 'after:soon ist keine Zeit. Schreiben Sie'],
    ['"invoice', '"invoice – The closing quote is missing.', '"invoice – Das schließende Anführungszeichen fehlt.'],
    ['tag:', 'tag: has no value.', 'tag: hat keinen Wert.'],
    ['door:fax', 'door:fax must be v2 or v3 or smtp.', 'door:fax muss v2 oder v3 oder smtp sein.'],
    ['a '.repeat(41), 'The search may have at most 40 parts.', 'Die Suche darf höchstens 40 Teile haben.'],
  ] as const) {
    const [en, de] = [await shown(query, 'en'), await shown(query, 'de')]
    t.strictSame([en.status, de.status], [400, 400], query)
    t.ok(en.problem?.startsWith(english), `${query}: ${en.problem}`)
    t.ok(de.problem?.startsWith(german), `${query}: ${de.problem}`)
  }
  t.match(
    (await shown('rechnung', 'en')).text,
    /Searched: recipients, subjects, .* metadata, and message ids of all messages since <?.*\d\d:\d\d/,
  )
  t.match(
    (await shown('rechnung', 'de')).text,
    /Durchsucht: Empfänger, Betreffe, .* aller Nachrichten seit <?.*\d\d:\d\d/,
  )
  t.match((await shown('invoice', 'en')).text, /No message since .* has all of this\./)
  t.match((await shown('invoice', 'de')).text, /Keine Nachricht seit .* hat all das\./)
})

t.test('days of a search on the page are those of the time zone of the account, as in the API', async (t) => {
  const dashboard = await openDashboard(t)
  const { service, url } = dashboard
  const ada = await sendingOwner(dashboard)
  await service.core.accounts.settings.change(
    ada.accountId,
    { timeZone: 'Pacific/Kiritimati' },
    { keyId: null, address: null },
  )
  await acceptMessage(service, ada, {})
  const zoned = (at: number) =>
    new Intl.DateTimeFormat('sv-SE', { timeZone: 'Pacific/Kiritimati', dateStyle: 'short' }).format(at)
  for (const [day, count] of [
    [0, 1],
    [1, 0],
  ] as const) {
    const query = encodeURIComponent(`after:${zoned(Date.now() + day * 86_400_000)}`)
    const page = await (await ada.get(`/app/${ada.accountId}/messages?q=${query}`)).text()
    t.equal([...page.matchAll(/<tr id="d-/g)].length, count)
    const answer = await fetch(`${url}/v2/messages?search=${query}`, { headers: { api_key: ada.apiKey } })
    t.equal(((await answer.json()) as { data: unknown[] }).data.length, count)
  }
})

t.test('suggestions are what may follow: keys, states in words, tags of the account alone', async (t) => {
  const dashboard = await openDashboard(t)
  const ada = await sendingOwner(dashboard)
  const { sql } = dashboard.service
  const stranger = await dashboard.service.makeSender()
  await sql`
    insert into tags (account_id, name, created_at)
    values (${ada.accountId}, 'orders', now()), (${ada.accountId}, 'order mail', now()), (${stranger.accountId}, 'orders-of-others', now())`
  const asked = async (part: string, language = 'en') => {
    const headers = { cookie: ada.cookie, 'accept-language': language }
    const answer = await fetch(
      `${dashboard.url}/app/${ada.accountId}/messages/suggestions?part=${encodeURIComponent(part)}`,
      { headers },
    )
    return (await answer.json()) as [string, string][]
  }
  t.strictSame((await asked('')).map(([text]) => text).slice(0, 3), ['to:', 'from:', 'subject:'])
  t.match(await asked('sta'), [['state:', /what became of it/]])
  t.match(await asked('state:b'), [['state:bounced', 'Bounced']])
  t.match(await asked('Zuges', 'de'), [['state:delivered', 'Zugestellt']])
  t.match(await asked('-state:op'), [['-state:opened', 'Opened']])
  t.strictSame(
    (await asked('tag:ord')).map(([text]) => text),
    ['tag:"order mail"', 'tag:orders'],
  )
  t.strictSame(
    (await asked('after:t')).map(([text]) => text),
    ['after:today'],
  )
  t.strictSame(await asked('"quoted'), [])
  const support = await dashboard.member(ada.accountId, 'support')
  t.equal((await support.get(`/app/${ada.accountId}/messages/suggestions?part=x`)).status, 200)
})

t.test(
  'while a search is typed, suggestions are chosen by keys or pointer, and nothing is lost',
  skipWithoutBrowser,
  async (t) => {
    const dashboard = await openDashboard(t)
    const ada = await sendingOwner(dashboard)
    await acceptMessage(dashboard.service, ada, {
      subject: 'Your invoice',
      envelopes: [envelopeTo('lena@harbor.example')],
    })
    await acceptMessage(dashboard.service, ada, { subject: 'Berth 4', envelopes: [envelopeTo('nils@harbor.example')] })
    const context = await openBrowser(t)
    const [name, value] = ada.cookie.split('=') as [string, string]
    await context.addCookies([{ name, value, url: dashboard.url }])
    const page = await context.newPage()
    await page.goto(`${dashboard.url}/app/${ada.accountId}/messages`)
    const field = page.locator('#q')
    await field.pressSequentially('invoice sta')
    await page.waitForSelector('#suggest:not([hidden]) [role=option]')
    await page.keyboard.press('ArrowDown')
    t.equal(await field.getAttribute('aria-activedescendant'), 'suggest-0')
    await page.keyboard.press('Enter')
    t.equal(await field.inputValue(), 'invoice state:')
    await page.waitForSelector('#suggest [role=option] >> text=state:queued')
    await page.locator('#suggest [role=option]', { hasText: 'state:queued' }).click()
    t.equal(await field.inputValue(), 'invoice state:queued ')
    t.equal(await page.locator('#suggest').isHidden(), true)
    await page.keyboard.press('Enter')
    await page.waitForURL(/q=invoice\+state%3Aqueued/)
    t.strictSame(await page.locator('tbody tr .go').allTextContents(), ['Your invoice'])
    t.match(await page.locator('#looked').textContent(), /^Searched: recipients, subjects/)
    await page.locator('#q').fill('nils ')
    await page.keyboard.press('Enter')
    await page.waitForURL(/q=nils/)
    t.strictSame(
      (await page.locator('tbody tr .go').allTextContents()).map((text) => text.trim()),
      ['Berth 4'],
    )
  },
)
