import type { Page } from 'playwright-core'

/** Finds the path of a page that has an id in it; undefined if there is none yet. */
type Find = (page: Page, account: string) => Promise<string | undefined>

/** The pages to picture: name, and path with :account. */
export const PICTURED: readonly (readonly [name: string, path: string | Find])[] = [
  ['first-steps', '/app/:account/first-steps'],
  ['overview', '/app/:account'],
  ['messages', '/app/:account/messages'],
  ['message', (page, account) => firstMessage(page, account, '')],
  ['message-session', (page, account) => firstMessage(page, account, '?tab=transcript')],
  ['message-source', (page, account) => firstMessage(page, account, '?tab=source')],
  ['templates', '/app/:account/templates'],
  ['template-new', '/app/:account/templates/new'],
  ['template', addedTemplate],
  ['template-compare', comparedVersions],
  ['domains', '/app/:account/domains'],
  ['domain', firstDomain],
  ['domain-new', '/app/:account/domains/new'],
  ['suppressions', '/app/:account/suppressions'],
  ['suppression-new', '/app/:account/suppressions/new'],
  ['statistics', '/app/:account/statistics'],
  ['statistics-tags', '/app/:account/statistics?by=tag&from=2026-01-01&to=2027-01-01'],
  ['exports', '/app/:account/exports'],
  ['export-new', '/app/:account/exports/new?events=sent&events=hardbounce'],
  ['keys', '/app/:account/keys'],
  ['key-new', '/app/:account/keys/new'],
  ['operator-accounts', '/app/operator/accounts'],
  ['operator-account', '/app/operator/accounts/:account'],
  ['operator-account-new', '/app/operator/accounts/new'],
  ['operator-sources', '/app/operator/sources'],
  ['operator-returns', '/app/operator/returns'],
  ['operator-processes', '/app/operator/processes'],
  ['operator-queue', '/app/operator/queue'],
  ['operator-place', '/app/operator/queue/place?name=google'],
  ['operator-jobs', plannedJob],
  ['operator-job-new', '/app/operator/queue/jobs/new?action=requeue'],
  ['webhooks', '/app/:account/webhooks'],
  ['webhook-new', '/app/:account/webhooks/new'],
  ['webhook', addedWebhook],
  ['webhook-request', firstRequest],
  ['accounts', '/app/accounts'],
  ['subaccounts', addedSubaccount],
  ['subaccount-new', '/app/:account/subaccounts/new'],
  ['subaccount', '/app/:account/subaccounts/dock2'],
  ['credits', '/app/:account/credits'],
  ['team', '/app/:account/team'],
  ['team-new', '/app/:account/team/new'],
  ['settings', '/app/:account/settings'],
  ['audit', '/app/:account/audit'],
  ['privacy', '/app/:account/privacy'],
  ['security', '/app/security'],
  ['forgotten', '/app/forgotten'],
  ['sign-up', '/app/sign-up'],
  ['log-in', '/app/login'],
  ['not-found', '/app/:account/nothing'],
]

/** Adds a webhook that is not started, whose URL nothing answers. */
async function addedWebhook(page: Page, account: string): Promise<string> {
  await page.goto(`${account}/webhooks/new`)
  await page.fill('[name=url]', 'https://ship.northwind.example/hooks/postrider')
  await page.uncheck('[name=enabled]')
  await page.click('#page form button[type=submit]')
  await page.goto(`${account}/webhooks`)
  const href = (await page.getAttribute('#page a.go', 'href')) as string
  return href
}

/** The page of the latest request of the first webhook. */
async function firstRequest(page: Page, account: string): Promise<string | undefined> {
  await page.goto(`${account}/webhooks`)
  await page.goto(new URL((await page.getAttribute('#page a.go', 'href')) as string, page.url()).href)
  const href = await page.getAttribute('a[href*="/requests/"]', 'href', { timeout: 1000 }).catch(() => null)
  return href ?? undefined
}

/** The page of the first message of the list. */
async function firstMessage(page: Page, account: string, tab: string): Promise<string | undefined> {
  await page.goto(`${account}/messages`)
  const href = await page.getAttribute('.msgs .go', 'href', { timeout: 1000 }).catch(() => null)
  return href === null ? undefined : `${href}${tab}`
}

/** The first domain of the account. */
async function firstDomain(page: Page, account: string): Promise<string> {
  await page.goto(`${account}/domains`)
  return (await page.getAttribute('#page .go', 'href')) as string
}

/** Adds a template from the sample, and names a variable without a value. */
async function addedTemplate(page: Page, account: string): Promise<string> {
  await page.goto(`${account}/templates/new`)
  await page.fill('[name=name]', 'order-shipped')
  await page.click('#page form button[type=submit]')
  const html = await page.inputValue('[name=html]')
  await page.fill('[name=html]', `${html}<p>Yours,<br>{{shop.name}}</p>`)
  await page.click('#page form .btn[value=new]')
  return new URL(page.url()).pathname
}

/** Adds a subaccount and gives it some credit. */
async function addedSubaccount(page: Page, account: string): Promise<string> {
  await page.goto(`${account}/subaccounts/new`)
  await page.fill('[name=username]', 'dock2')
  await page.fill('[name=email]', 'dock2@northwind.example')
  await page.click('#page form button[type=submit]')
  await page.goto(`${account}/subaccounts/dock2`)
  await page.fill('[name=amount]', '25000')
  await page.click('[value=increase]')
  return new URL(`${account}/subaccounts`).pathname
}

/** Makes the whole queue due now, if anything waits: other pictures show the same mail. */
async function plannedJob(page: Page, account: string): Promise<string> {
  const jobs = new URL('/app/operator/queue/jobs', account)
  await page.goto(`${jobs.href}/new?action=flush`)
  await page.check('[name=all]')
  await page.click('#page form button[type=submit]')
  const begin = page.locator('#page form[action*=confirm] button')
  if ((await begin.count()) > 0) await begin.click()
  return jobs.pathname
}

/** The comparison of the two newest versions of the template that was added. */
async function comparedVersions(page: Page, account: string): Promise<string> {
  const template = await addedTemplate(page, account)
  await page.goto(new URL(template, account).href)
  return (await page.getAttribute('#page a[href*=compare]', 'href')) as string
}
