import { rowsOf } from '../row.ts'
import type { Stage } from '../stage.ts'
import { fill, kB, MB, many } from '../text.ts'

const get = (path: () => string) => (stage: Stage) => stage.call(path(), { method: 'GET' })
const getV3 = (path: () => string) => (stage: Stage) => stage.v3(path(), { method: 'GET' })
const post = (path: string, body: () => unknown) => (stage: Stage) => stage.call(path, { body: JSON.stringify(body()) })
const postV3 = (path: string, body: () => unknown) => (stage: Stage) => stage.v3(path, { body: JSON.stringify(body()) })
const csv = (body: () => string) => (stage: Stage) =>
  stage.call('/v2/suppression/import', { body: body(), headers: { 'content-type': 'text/csv' } })
const headed = (headers: () => Record<string, string | string[]>) => (stage: Stage) =>
  stage.call('/v2/sendEmail', { body: '{}', headers: headers() })
const emails = (count: number) => Array.from({ length: count }, (_, at) => `a${at}@b.example`)

/** The other operations: lists, dates, cursors, CSV, webhooks, header fields, paths and tracking links. */
export const OPERATIONS = rowsOf(
  'api',
  {
    'CSV: 28 MB of quotes': csv(() => `email\n${fill('"', 28 * MB)}`),
    'CSV: 28 MB of commas': csv(() => `email\n${fill(',', 28 * MB)}`),
    'CSV: 28 MB of line ends': csv(() => `email\n${fill('\n', 28 * MB)}`),
    'CSV: a head of 28 MB': csv(() => fill('email,', 28 * MB)),
    'CSV: one field of 28 MB': csv(() => `email\n${fill('a', 28 * MB)}`),
    'CSV: a million addresses': csv(() => `email\n${many(1_000_000, (at) => `a${at}@b.example`, '\n')}`),
    'CSV: a million wrong lines': csv(() => `email\n${fill('@\n', 2_000_000)}`),
    'CSV: 28 MB of ""': csv(() => `email\n${fill('"a""', 28 * MB)}`),
    'suppression: an address of 28 MB': post('/v2/suppression', () => ({ email: fill('@', 28 * MB) })),
    'v3 suppressions: 400,000 addresses': postV3('/asm/suppressions/global', () => ({
      recipient_emails: emails(400_000),
    })),
    'v3 suppressions: 400,000 wrong addresses': postV3('/asm/suppressions/global', () => ({
      recipient_emails: Array(400_000).fill('@'),
    })),
    'operator: a plan of 28 MB, with the key of an account': post('/operator/v1/plans', () => ({
      tag: fill('a', 28 * MB),
    })),
    'forget: an address of 28 MB': post('/v2/gdpr/forget', () => ({ email: fill('a.', 28 * MB) })),
    'forget: 28 MB of commas': post('/v2/gdpr/forget', () => ({ email: fill(',', 28 * MB) })),
    'forget: 400,000 addresses': post('/v2/gdpr/forget', () => ({ email: emails(400_000) })),
    'key: 28 MB of scopes': post('/v2/keys', () => ({ name: 'a', scopes: fill('send,', 28 * MB) })),
    'key: 400,000 networks': post('/v2/keys', () => ({
      name: 'a',
      scopes: ['send'],
      networks: Array(400_000).fill('10.0.0.0/8'),
    })),
    'key: a network of 28 MB of colons': post('/v2/keys', () => ({
      name: 'a',
      scopes: ['send'],
      networks: [fill(':', 28 * MB)],
    })),
    'v3 key: 400,000 scopes': postV3('/api_keys', () => ({ name: 'a', scopes: Array(400_000).fill('mail.send') })),
    'domain: a name of 28 MB of dots': post('/v2/domain', () => ({ domain: fill('a.', 28 * MB) })),
    'domain: a name of 28 MB of ü': post('/v2/domain', () => ({ domain: fill('ü', 14 * MB) })),
    'domain: a name of 28 MB of xn--': post('/v2/domain', () => ({ domain: fill('xn--a.', 28 * MB) })),
    'domain: a private key of 28 MB': post('/v2/domain/dkimKey', () => ({
      domain: 'ship.example',
      selector: 'a',
      privateKey: `-----BEGIN PRIVATE KEY-----\n${fill('A', 28 * MB)}\n-----END PRIVATE KEY-----`,
    })),
    'attached file of 28 MB of line ends': post('/v2/attachment', () => ({
      fileName: 'a.txt',
      fileContent: fill('\r\n', 14 * MB),
    })),
    'subaccount: a name of 28 MB': post('/v2/subaccounts/createSubaccount', () => ({
      username: fill('a', 28 * MB),
      email: 'a@b.example',
    })),
    'subaccount: a password of 10 MB': post('/v2/subaccounts/createSubaccount', () => ({
      username: 'sub',
      email: 'a@b.example',
      setpassword: 'Y',
      password: fill('aB3!', 10 * MB),
    })),
    'webhook: a URL of 2 kB of dots': post('/v2/webhooks', () => ({ url: `http://${fill('.', 2000)}`, events: 'all' })),
    'webhook: events of 28 MB of commas': post('/v2/webhooks', () => ({
      url: 'http://127.0.0.1:1/',
      events: fill(',', 28 * MB),
    })),
    'webhook: 400,000 header fields': post('/v2/webhooks', () => ({
      url: 'http://127.0.0.1:1/',
      events: 'all',
      headers: Object.fromEntries(Array.from({ length: 400_000 }, (_, at) => [`X-${at}`, 'a'])),
    })),
    'webhook: a header field of 28 MB': post('/v2/webhooks', () => ({
      url: 'http://127.0.0.1:1/',
      events: 'all',
      headers: { 'X-A': fill('a', 28 * MB) },
    })),
    'v3 webhook: a URL and a name of 14 MB': postV3('/user/webhooks/event/settings', () => ({
      enabled: true,
      url: `http://a.example/${fill('%', 14 * MB)}`,
      friendly_name: fill('a', 14 * MB),
    })),
    'account: a time zone of 28 MB': post('/v2/account', () => ({ timeZone: fill('Europe/', 28 * MB) })),
    'account: a footer of 28 MB': post('/v2/account', () => ({ footerHtml: fill('<', 28 * MB) })),
    'export: dates and events of 9 MB': post('/v2/stats/export', () => ({
      startdate: fill('2', 9 * MB),
      enddate: fill('-', 9 * MB),
      events: fill('sent,', 9 * MB),
    })),
    'export: a callback of 28 MB': post('/v2/stats/export', () => ({
      startdate: '2026-11-01',
      enddate: '2026-11-02',
      callbackUrl: `http://${fill('a.', 28 * MB)}`,
    })),
    'logs: 7,000 parameters': get(() => `/v2/logs?${fill('a=1&', 15_800)}`),
    'logs: 15 kB of brackets': get(() => `/v2/logs?${fill('a[]=1&', 15_800)}`),
    'logs: 15 kB of %': get(() => `/v2/logs?email=${fill('%25', 15_000)}`),
    'logs: a date of 15 kB': get(() => `/v2/logs?startdate=${fill('2026-11-22T', 15_000)}`),
    'logs: a cursor of 15 kB': get(() => `/v2/logs?startdate=2026-11-01&scrollid=${fill('A', 15_000)}`),
    'logs: events of 15 kB of commas': get(() => `/v2/logs?startdate=2026-11-01&events=${fill(',', 15_000)}`),
    'logs: a body with events of 28 MB of commas': post('/v2/logs', () => ({
      startdate: '2026-11-01',
      events: fill(',', 28 * MB),
    })),
    'logs: an address of 28 MB': post('/v2/logs', () => ({ startdate: '2026-11-01', email: fill('a@', 28 * MB) })),
    'logs: a subject of 28 MB': post('/v2/logs', () => ({ startdate: '2026-11-01', subject: fill('%', 28 * MB) })),
    'feed: types of 15 kB of commas': get(() => `/v2/events/feed?types=${fill(',', 15_000)}&after=${fill('9', 500)}`),
    'stats: metrics of 28 MB of commas': post('/v2/stats', () => ({
      startdate: '2026-11-01',
      metrics: fill(',', 28 * MB),
    })),
    'stats: a site of 28 MB': post('/v2/stats', () => ({
      startdate: '2026-11-01',
      by: 'site',
      site: fill('a.', 28 * MB),
    })),
    'v3 stats: 15 kB of categories': getV3(
      () => `/categories/stats?start_date=2026-11-01&${fill('categories=a&', 15_000)}`,
    ),
    'v3 stats: 15 kB of categories[]': getV3(
      () => `/categories/stats?start_date=2026-11-01&${fill('categories[]=a&', 15_000)}`,
    ),
    'v3 groups: 15 kB of ids': getV3(() => `/asm/groups?${fill('id=1&', 15_000)}`),
    'v3 templates: a page token of 15 kB': getV3(
      () => `/templates?generations=dynamic&page_size=10&page_token=${fill('A', 15_000)}`,
    ),
    'v3 suppressions: a page token of 15 kB': getV3(
      () => `/suppression/bounces?start_time=${fill('1', 7000)}&email=${fill('%25', 7000)}`,
    ),
    'path: 15 kB of /': get(() => `/v2${fill('/', 15_000)}`),
    'path: 15 kB of %2F': get(() => `/v2/template/${fill('%2F', 15_000)}`),
    'path: 15 kB of ../': get(() => `/v2/${fill('../', 15_000)}`),
    'path: an address of 1,000': getV3(() => `/suppression/bounces/${fill('%40', 990)}`),
    'header: Idempotency-Key of 15 kB': headed(() => ({ 'idempotency-key': fill('a', 15_000) })),
    'header: a key of 15 kB': headed(() => ({ api_key: fill('a', 15_000) })),
    'header: Authorization of 15 kB of blanks': (stage) =>
      stage.v3('/mail/send', { body: '{}', headers: { authorization: `Bearer${fill(' ', 15_000)}x` } }),
    'header: Content-Type of 15 kB of ;': headed(() => ({
      'content-type': `application/json${fill(';a="\\', 15_000)}`,
    })),
    'header: Content-Type of 15 kB of blanks': headed(() => ({
      'content-type': `application/json${fill(' ;', 15_000)}x`,
    })),
    'header: cookies, Accept and X-Forwarded-For of 5 kB each': headed(() => ({
      cookie: fill('a=b;', 5000),
      accept: fill('*/*,', 5000),
      'x-forwarded-for': fill('1.1.1.1,', 5000),
    })),
    'header: a Host of 15 kB': headed(() => ({ host: fill('a.', 15_000) })),
    'header: 1,000 fields': headed(() => ({ 'x-a': Array(1000).fill('b') })),
    'header: Accept-Encoding and Origin of 7 kB': headed(() => ({
      'accept-encoding': fill('gzip;q=0.1,', 7000),
      origin: fill('http://', 7000),
    })),
    'tracking: a token of 15 kB': get(() => `/t/c/${fill('Aw', 15_000)}`),
    'tracking: a token of 15 kB of %2F': get(() => `/t/o/${fill('%2F', 15_000)}`),
    'tracking: an unsubscribe form of 28 MB': (stage) =>
      stage.call(`/t/u/${fill('A', 200)}`, { body: fill('List-Unsubscribe=One-Click&', 28 * MB) }),
    'tracking: a User-Agent of 15 kB': (stage) =>
      stage.call(`/t/o/${fill('A', 200)}`, { method: 'GET', headers: { 'user-agent': fill('Mozilla/5.0 (', 15_000) } }),
    'export link of 15 kB': get(() => `/exports/${fill('A', 15_000)}`),
    'health with 15 kB of parameters': get(() => `/health/ready?${fill('a[b]=c&', 15_000)}`),
    'v3 scopes: 200 calls at once': async (stage) =>
      (await Promise.all(Array.from({ length: 200 }, () => getV3(() => '/scopes')(stage))))[0] as string,
    'documents: the OpenAPI page, 20 times': async (stage) =>
      (await Promise.all(Array.from({ length: 20 }, () => get(() => '/docs/json')(stage))))[0] as string,
    'documents: the OpenAPI document, 50 times': async (stage) =>
      (await Promise.all(Array.from({ length: 50 }, () => get(() => '/openapi.json')(stage))))[0] as string,
    'documents: the OpenAPI document as YAML, 20 times': async (stage) =>
      (await Promise.all(Array.from({ length: 20 }, () => get(() => '/docs/yaml')(stage))))[0] as string,
    'v2 form calls: 199,000 parameters to another operation': (stage) =>
      stage.call('/v2/getTemplates', {
        body: many(199_000, (at) => `k${at}=v`, '&'),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
    'v2 JSON: a list of 28 MB to another operation': post('/v2/getTemplates', () => ({
      template_id: fill('1,', 28 * MB),
    })),
    'v3 JSON: 300 kB of a wrong type': postV3('/templates', () => ({ name: Array(100 * kB).fill(1) })),
  },
  ['CSV: 28 MB of commas', 'webhook: events of 28 MB of commas', 'tracking: a token of 15 kB'],
)
