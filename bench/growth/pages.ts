import { ROUTES } from '@postrider/dashboard'
import type { Known } from './call.ts'

/** A page of the dashboard that is measured, as its path below /app; `:account` is the large account. */
export interface PageVisit {
  /** The route of the dashboard's table. */
  readonly route: string
  readonly what: string
  readonly path: string
  /** Follows the link to the next page so many times less one. */
  readonly page?: number
  /** The answer is a file: measured until its first octets are there. */
  readonly beginning?: boolean
}

/** Of messages, as the list's chips name them. */
const STATES = ['delivered', 'queued', 'deferred', 'bounced', 'dropped', 'scheduled', 'failed'] as const

/** Pages that stand outside a session, or that read nothing that grows. */
const SMALL = [
  '/',
  '/login',
  '/login/passkey',
  '/logout',
  '/preferences',
  '/oidc',
  '/oidc/begin',
  '/first',
  '/invitation',
  '/sign-up',
  '/verify',
  '/forgotten',
  '/reset',
  '/messages/:id',
  '/accounts',
  '/security',
  '/operator/accounts/new',
  '/templates/new',
  '/domains/new',
  '/suppressions/new',
  '/exports/new',
  '/exports/:id/file',
  '/keys/new',
  '/subaccounts/new',
  '/team/new',
  '/webhooks/new',
  '/messages/:message/files/:index',
  '/operator/returns/:id',
]

/** Every page that lists or counts: the first one, and the 1,000th or the last one that is offered. */
export function pageVisits({
  day,
  subaccount,
  message,
  sent,
  template,
  legacy,
  version,
  webhook,
  webhookRequest,
}: Known): PageVisit[] {
  const own = (route: string, what = '', query = '', page?: number): PageVisit => ({
    route,
    what,
    path: `/:account${filled(route)}${query && `?${query}`}`,
    ...(page === undefined ? {} : { page }),
  })
  const ids: Readonly<Record<string, string>> = {
    ':message/html': `${sent}/html`,
    ':message/source': `${sent}/source`,
    ':message': message,
    ':domain': 'large-77.example',
    ':name': subaccount,
    ':version': '1',
    '/webhooks/:id': `/webhooks/${webhook}`,
    ':request': webhookRequest,
    '/templates/:id/versions': `/templates/${template}/versions`,
    '/templates/:id/compare': `/templates/${legacy}/compare`,
    '/templates/:id': `/templates/${template}`,
  }
  const filled = (route: string) => Object.entries(ids).reduce((path, [name, id]) => path.replace(name, id), route)
  const operated = (route: string, what = '', query = '', page?: number): PageVisit => ({
    ...own(route, what, query, page),
    path: `${route.replace(':id', ':account')}${query && `?${query}`}`,
  })
  const find = (what: string, search: string, page?: number) =>
    own('/messages', what, new URLSearchParams({ q: search }).toString(), page)
  const weeks = `from=${day(83)}&to=${day(0)}`
  const month = `from=${day(29)}&to=${day(0)}`
  return [
    own('', 'today'),
    own('', 'a week', 'span=week'),
    own('', '30 days', 'span=month'),
    own('/first-steps'),
    own('/messages', 'first page'),
    own('/messages', 'page 1,000', '', 1000),
    ...STATES.map((state) => find(`state ${state}`, `state:${state}`)),
    find('state waiting, page 1,000', 'state:waiting', 1000),
    find('a rare subject', 'subject:"No such subject"*'),
    find('a common subject', 'subject:"Your weekly digest"'),
    find('a common subject, page 1,000', 'subject:"Your weekly digest"', 1000),
    find('a tag', 'tag:tag-000001'),
    find('a rare tag', 'tag:tag-300001'),
    find('a tag that is not there', 'tag:no-such-tag'),
    find('a word of many subjects', 'harbour'),
    find('a word that is not there', 'nosuchword after:30d'),
    find('an order number', 'order-4711000'),
    find('two words and a state', 'weekly digest state:bounced'),
    own('/messages/suggestions', 'a tag', 'part=tag:tag-0'),
    find('a sender', 'from:desk@large-0.example'),
    find('a person of 10,000', 'to:person@reader.example'),
    find('a person of 10,000, page 1,000', 'to:person@reader.example', 1000),
    find('a recipient domain', 'to:@d77.example'),
    find('a recipient domain that is not there', 'to:@no-such.example'),
    find('with attachments', 'has:attachment'),
    find('a week long ago', `after:${day(60)} before:${day(53)} state:bounced`),
    own('/messages/:message'),
    own('/messages/:message', 'SMTP session', 'tab=transcript'),
    own('/messages/:message/html'),
    own('/messages/:message/source'),
    own('/templates'),
    own('/templates', 'merge', 'kind=merge'),
    own('/templates', 'merge, offset 450', 'kind=merge&offset=450'),
    own('/templates/:id'),
    own('/templates/:id/compare', 'two versions', `from=${version}&to=${version}`),
    own('/templates/:id/versions/:version'),
    own('/templates/:id/versions/:version/preview'),
    own('/domains', '5,000'),
    own('/domains', 'offset 4,950', 'offset=4950'),
    own('/domains/:domain', '9,000 DMARC reports'),
    own('/domains/:domain/zone'),
    own('/suppressions', '1.5 M'),
    own('/suppressions', 'offset 9,950', 'offset=9950'),
    own('/suppressions', 'of one reason, offset 9,950', 'reason=abuse&offset=9950'),
    own('/suppressions', 'a search', 'q=s20@d20.example'),
    { ...own('/suppressions.csv', 'the beginning'), beginning: true },
    own('/statistics', '30 days'),
    ...['site', 'tag', 'domain'].map((by) => own('/statistics', `30 days by ${by}`, `${month}&by=${by}`)),
    own('/statistics', '12 weeks by tag', `${weeks}&by=tag`),
    own('/statistics', '30 days by tag, offset 9,950', `${month}&by=tag&offset=9950`),
    { ...own('/statistics.csv', '30 days by tag, the beginning', `${month}&by=tag`), beginning: true },
    own('/exports', '99'),
    own('/keys'),
    own('/subaccounts', '2,000'),
    own('/subaccounts', 'offset 1,950', 'offset=1950'),
    own('/subaccounts', 'a search', 'q=sub-77'),
    own('/subaccounts/:name'),
    own('/credits'),
    own('/team', '500'),
    own('/settings'),
    own('/privacy', 'none'),
    own('/audit', '20,000'),
    own('/audit', 'page 1,000', '', 1000),
    own('/webhooks'),
    own('/webhooks/:id'),
    own('/webhooks/:id', '1,000 failed, offset 990', 'offset=990'),
    own('/webhooks/:id/edit'),
    own('/webhooks/:id/requests/:request'),
    operated('/operator/queue', '1 M wait'),
    operated('/operator/queue', 'by account', 'by=account'),
    operated('/operator/queue', 'by domain', 'by=domain'),
    operated('/operator/queue/place', 'one', 'name=google'),
    operated('/operator/queue/jobs'),
    operated('/operator/queue/jobs/new', '', 'action=flush'),
    operated('/operator/accounts', '5,000'),
    operated('/operator/accounts', 'offset 4,950', 'offset=4950'),
    operated('/operator/accounts', 'a search', 'q=small-4321'),
    operated('/operator/accounts', 'none is held', 'filter=held'),
    operated('/operator/accounts/:id'),
    operated('/operator/sources'),
    operated('/operator/returns', '1 M'),
    operated('/operator/returns', 'page 1,000', '', 1000),
    operated('/operator/returns', 'complaints', 'kind=complaint'),
    operated('/operator/returns', 'a kind that is not there', 'kind=failed'),
    operated('/operator/processes'),
  ]
}

/** Pages that have neither a visit nor a destination in SMALL. */
export function unvisited(visits: readonly PageVisit[]): string[] {
  const known = new Set([...SMALL, ...visits.map(({ route }) => route)])
  return ROUTES.filter(({ method, path }) => method === 'GET' && !known.has(path)).map(({ path }) => path)
}
