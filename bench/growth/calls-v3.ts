import type { Call, Known } from './call.ts'

const LISTS = [
  'Bounces bounces',
  'Blocks blocks',
  'InvalidEmails invalid_emails',
  'SpamReports spam_reports',
  'Unsubscribes unsubscribes',
]

/** Every operation of v3 that only reads, with ordinary parameters and the worst that are allowed. */
export function v3Calls({ day, daySeconds, sent, legacy, version, batch, keyId, editableWebhook }: Known): Call[] {
  const get = (operation: string, path: string, what = ''): Call => ({
    api: 'v3',
    operation,
    what,
    method: 'GET',
    path,
  })
  const weeks = `start_date=${day(83)}&end_date=${day(0)}`
  const year = `start_date=${day(364)}&end_date=${day(0)}`
  const years = `start_date=${day(1800)}&end_date=${day(0)}`
  const week = `start_date=${day(12)}&end_date=${day(6)}`
  const oneDay = `start_date=${day(12)}&end_date=${day(12)}`
  const bounces = (operation: string, path: string): Call[] => [
    get(operation, path, '30 days'),
    get(operation, `${path}?${oneDay}`, 'a day'),
    get(operation, `${path}?start_date=${day(9)}&end_date=${day(6)}`, '4 days'),
    get(operation, `${path}?${week}`, 'a week'),
    get(operation, `${path}?start_date=${day(15)}&end_date=${day(6)}`, '10 days'),
    get(operation, `${path}?${weeks}`, '12 weeks'),
    get(operation, `${path}?${year}`, 'a year'),
  ]
  const inWeek = `last_event_time BETWEEN TIMESTAMP "${day(12)}T00:00:00Z" AND TIMESTAMP "${day(6)}T00:00:00Z"`
  const activity = (what: string, query: string): Call[] => [
    get('searchMessages', `/messages?limit=1000&query=${encodeURIComponent(query)}`, what),
  ]
  const ten = Array.from({ length: 10 }, (_, at) => `categories=tag-00007${at}`).join('&')
  const lists = LISTS.flatMap((list) => {
    const [noun, path] = list.split(' ')
    const all = (what: string, query: string): Call => get(`list${noun}`, `/suppression/${path}?${query}`, what)
    return [
      all('the first 500', 'limit=500'),
      all('offset 99,000', 'limit=500&offset=99000'),
      all('a window of a day', `start_time=${daySeconds(40)}&end_time=${daySeconds(39)}`),
      all('a window of a year, offset 99,000', `start_time=${daySeconds(400)}&end_time=${daySeconds(35)}&offset=99000`),
      all('a window of a second', `start_time=${daySeconds(40)}&end_time=${daySeconds(40)}`),
      all('a prefix', 'email=s19'),
      all('a prefix that is rare', 'email=s1999999'),
      all('a prefix of none', 'email=zz'),
      all('a window and a prefix', `start_time=${daySeconds(40)}&end_time=${daySeconds(39)}&email=s1`),
      get(`view${noun}`, `/suppression/${path}/s3@d3.example`),
    ]
  })
  return [
    get('getStats', `/stats?${weeks}`, '12 weeks'),
    get('getStats', `/stats?${years}`, 'five years by day'),
    get('listCategories', '/categories?limit=10000', 'the first 10,000'),
    get('listCategories', '/categories?limit=10000&offset=290000', 'offset 290,000'),
    get('listCategories', '/categories?category=tag-2&limit=50&offset=90000', 'a prefix, offset 90,000'),
    { ...get('getCategoryStats', `/categories/stats?${years}&${ten}`, 'ten, five years'), isTooMuch: true },
    get('getCategoryStats', `/categories/stats?${years}&${ten}&aggregated_by=month`, 'ten, five years by month'),
    get(
      'getCategoryStats',
      `/categories/stats?start_date=${day(999)}&end_date=${day(0)}&${ten}`,
      'ten, a thousand days',
    ),
    get('getCategorySums', `/categories/stats/sums?${weeks}`, '12 weeks'),
    get('getCategorySums', `/categories/stats/sums?${year}&limit=10000`, 'a year'),
    get('getMailboxProviderStats', `/mailbox_providers/stats?${weeks}`, '12 weeks'),
    {
      ...get(
        'getMailboxProviderStats',
        `/mailbox_providers/stats?start_date=${day(199)}&end_date=${day(0)}`,
        '200 days',
      ),
      isTooMuch: true,
    },
    { ...get('getMailboxProviderStats', `/mailbox_providers/stats?${years}`, 'five years'), isTooMuch: true },
    get('getMailboxProviderStats', `/mailbox_providers/stats?${years}&aggregated_by=month`, 'five years by month'),
    get('getMailboxProviderStats', `/mailbox_providers/stats?${weeks}&mailbox_providers=Gmail`, 'one, 12 weeks'),
    ...bounces('countBounceClassifications', '/suppression/bounces/classifications'),
    ...bounces('countBouncesOf', '/suppression/bounces/classifications/Reputation'),
    get('countBounceClassificationsPlural', `/suppressions/bounces/classifications?${oneDay}`, 'a day'),
    get('countBouncesOfPlural', `/suppressions/bounces/classifications/Reputation?${oneDay}`, 'a day'),
    get('listGroups', '/asm/groups', '20 groups'),
    get('viewGroup', '/asm/groups/1'),
    get('listAuthenticatedDomains', '/whitelabel/domains?limit=500', 'the first 500'),
    get('viewAuthenticatedDomain', '/whitelabel/domains/1'),
    get('listBrandedLinks', '/whitelabel/links?limit=500', 'the first 500'),
    get('viewBrandedLink', '/whitelabel/links/1'),
    get('searchMessages', '/messages?limit=1000', 'the newest 1,000'),
    ...activity('the words of a subject', 'subject LIKE "%invoice%"'),
    ...activity('a category', 'Contains(categories,"tag-000077")'),
    ...activity('nothing, in a week', `status="not_delivered" AND from_email="nobody@d3.example" AND ${inWeek}`),
    get('viewMessage', `/messages/${sent}`),
    ...['devices', 'clients', 'browsers', 'geo'].map((subject) =>
      get(`get${subject[0]?.toUpperCase()}${subject.slice(1)}Stats`, `/${subject}/stats?${years}`, 'five years by day'),
    ),
    get('viewIpPool', '/ips/pools/default'),
    get('viewIp', '/ips/192.0.2.1'),
    get('viewTeammate', '/teammates/nobody@d3.example'),
    get('listSubusers', '/subusers?limit=500', 'the first 500'),
    get('listGroupSuppressions', '/asm/groups/1/suppressions', 'the first 10,000'),
    get('listGroupSuppressions', '/asm/groups/1/suppressions?limit=10000&offset=90000', 'offset 90,000'),
    {
      api: 'v3',
      operation: 'searchGroupSuppressions',
      what: '1,000 addresses',
      method: 'POST',
      path: '/asm/groups/1/suppressions/search',
      body: { recipient_emails: Array.from({ length: 1000 }, (_, at) => `s${at * 20}@d${(at * 20) % 10_000}.example`) },
    },
    get('listGroupsSuppressed', '/asm/suppressions?limit=10000&offset=90000', 'offset 90,000'),
    get('viewGlobal', '/asm/suppressions/global/s3@d3.example'),
    get('viewGroupsOf', '/asm/suppressions/s20@d20.example'),
    ...lists,
    get('viewSpamReport', '/suppression/spam_report/s3@d3.example'),
    get('viewKey', `/api_keys/${keyId}`),
    get('listTemplates', '/templates?generations=legacy,dynamic&page_size=200'),
    get('viewTemplate', `/templates/${legacy}`),
    get('viewTemplateVersion', `/templates/${legacy}/versions/${version}`),
    get('viewWebhook', `/user/webhooks/event/settings/${editableWebhook}`),
    get('viewBatch', `/mail/batch/${batch}`),
    get('listHeldBatches', '/user/scheduled_sends', '1,000 held'),
  ]
}
