import { MACHINE_RULES_VERSION, REQUEST_RULES } from '@postrider/core'
import t from 'tap'
import { makeReaders } from './readers.ts'

const readers = await makeReaders(t)
const { ask, accept, deliver, deliverAll, link, pixel, pass, seen } = readers
const SHOP = 'https://shop.example/'

const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36'
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1'

/** What the request says, and the rule it meets; undefined: a person. */
const REQUESTS: readonly (readonly [sentence: string, headers: Record<string, string>, rule: string | undefined])[] = [
  ['a browser', { 'user-agent': CHROME }, undefined],
  ['a telephone', { 'user-agent': IPHONE }, undefined],
  [
    'a telephone made by Cubot',
    { 'user-agent': 'Mozilla/5.0 (Linux; Android 13; CUBOT) AppleWebKit/537.36' },
    undefined,
  ],
  [
    'Outlook',
    { 'user-agent': 'Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.17726; Pro)' },
    undefined,
  ],
  [
    'Thunderbird',
    { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Thunderbird/128.4.0' },
    undefined,
  ],
  [
    "Gmail's image proxy, which fetches when a person opens the message",
    { 'user-agent': 'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)' },
    undefined,
  ],
  [
    "Yahoo's image proxy, likewise",
    { 'user-agent': 'YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html' },
    undefined,
  ],
  ['Apple Mail Privacy Protection', { 'user-agent': 'Mozilla/5.0' }, 'prefetcher'],
  [
    'Gmail as it fetches ahead of any reader',
    {
      'user-agent': `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/42.0.2311.135 Safari/537.36 Edge/12.246 Mozilla/5.0`,
    },
    'prefetcher',
  ],
  ['somebody who says no name', { 'user-agent': '' }, 'no-user-agent'],
  ['somebody whose name is a blank', { 'user-agent': ' ' }, 'no-user-agent'],
  [
    'a page that fetches ahead (Sec-Purpose)',
    { 'user-agent': CHROME, 'sec-purpose': 'prefetch;prerender' },
    'prefetch',
  ],
  ['a page that fetches ahead (Purpose)', { 'user-agent': CHROME, purpose: 'prefetch' }, 'prefetch'],
  ['a page that shows a preview (X-Purpose)', { 'user-agent': CHROME, 'x-purpose': 'preview' }, 'prefetch'],
  ['a page that fetches ahead (X-Moz)', { 'user-agent': CHROME, 'x-moz': 'prefetch' }, 'prefetch'],
  ['a gateway by Barracuda', { 'user-agent': 'Mozilla/5.0 (compatible; BarracudaCentral)' }, 'gateway'],
  ['a gateway by Proofpoint', { 'user-agent': 'Proofpoint-URL-Defense/1.0' }, 'gateway'],
  ['a gateway by Mimecast', { 'user-agent': 'Mimecast URL Protect' }, 'gateway'],
  ['Safe Links', { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0) SafeLinks/2.1' }, 'gateway'],
  ['a preview in Slack', { 'user-agent': 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)' }, 'preview'],
  ['a preview in WhatsApp', { 'user-agent': 'WhatsApp/2.24.1 A' }, 'preview'],
  ['a preview on Facebook', { 'user-agent': 'facebookexternalhit/1.1' }, 'preview'],
  ['a crawler', { 'user-agent': 'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)' }, 'bot'],
  ['a browser without a head', { 'user-agent': CHROME.replace('Chrome', 'HeadlessChrome') }, 'bot'],
  ['curl', { 'user-agent': 'curl/8.11.0' }, 'bot'],
  ['a program in Python', { 'user-agent': 'python-requests/2.32.3' }, 'bot'],
  ['a program in Go', { 'user-agent': 'Go-http-client/2.0' }, 'bot'],
]

for (const [sentence, headers, rule] of REQUESTS) {
  t.test(`${sentence} is ${rule === undefined ? 'a person' : `a machine: ${rule}`}`, async (t) => {
    const message = await deliver()
    await ask(pixel(message), { headers })
    await pass(30)
    await ask(link(message, SHOP), { headers })
    for (const { detail } of await seen(message)) {
      t.equal(detail.machine, rule)
      t.equal(detail.first, rule === undefined ? true : undefined)
      t.equal(detail.rules, MACHINE_RULES_VERSION)
    }
  })
}

t.test('HEAD is answered like GET, without a body, and is a machine', async (t) => {
  const message = await deliver()
  const [open, click] = [
    await ask(pixel(message), { method: 'HEAD' }),
    await ask(link(message, SHOP), { method: 'HEAD' }),
  ]
  t.strictSame([open.status, open.text, open.headers['content-type']], [200, '', 'image/gif'])
  t.strictSame([click.status, click.text, click.headers.location], [302, '', SHOP])
  t.strictSame(
    (await seen(message)).map(({ detail }) => detail.machine),
    ['head', 'head'],
  )
})

t.test(
  "a request before the server has accepted the message, or within five seconds of it, is a machine's",
  async (t) => {
    const message = await accept()
    await ask(link(message, SHOP))
    t.strictSame(
      (await seen(message)).map(({ detail }) => detail.machine),
      [undefined],
      'one that waits after an attempt may be in the hands of a reader',
    )
    const quick = await accept()
    // In the middle of the conversation: scanners look before they take it.
    await readers.service.sql`update delivery_queue set state = 'sending' where message_id = ${quick}::uuid`
    await ask(pixel(quick))
    t.equal((await seen(quick))[0]?.detail.machine, 'soon')
    await readers.service.sql`update delivery_queue set state = 'queued' where message_id = ${quick}::uuid`
    await ask(pixel(quick))
    await deliverAll()
    await ask(link(quick, SHOP))
    await pass(4)
    await ask(link(quick, SHOP))
    await pass(2)
    await ask(link(quick, SHOP))
    t.strictSame(
      (await seen(quick)).map(({ type, detail }) => [type, detail.machine]),
      [
        ['opened', 'soon'],
        ['opened', 'soon'],
        ['clicked', 'soon'],
        ['clicked', 'soon'],
        ['clicked', undefined],
      ],
    )
  },
)

t.test('all links of a message at once are a machine, the first of them too', async (t) => {
  const message = await deliver(['lena@harbor.example', 'piet@harbor.example'])
  const urls = Array.from({ length: 6 }, (_, at) => link(message, `${SHOP}${at}`, { link: at }))
  await Promise.all(urls.map((path) => ask(path)))
  // Another reader of the same message, at the same time.
  await ask(link(message, SHOP, { recipientNo: 1 }))
  const events = await seen(message)
  t.strictSame(events.map(({ recipientNo, detail }) => [recipientNo, detail.machine, detail.first]).sort(), [
    ...Array.from({ length: 6 }, () => [0, 'links', undefined]),
    [1, undefined, true],
  ])
  await ask(link(message, SHOP))
  t.equal((await seen(message)).at(-1)?.detail.first, true, 'the person who comes later is the first')
})

t.test(
  'a scanner that follows one link after the other is known by its neighbours, also when some are classified before',
  async (t) => {
    const message = await deliver()
    for (let at = 0; at < 4; at++) {
      await ask(link(message, `${SHOP}${at}`, { link: at }))
      await pass(1.5)
      while (await readers.service.core.tracking.classify());
    }
    t.strictSame(
      (await seen(message)).map(({ detail }) => detail.machine),
      ['links', 'links', 'links', 'links'],
    )
  },
)

t.test('the same link twice is a person with a nervous finger', async (t) => {
  const message = await deliver()
  await Promise.all([ask(link(message, SHOP)), ask(link(message, SHOP))])
  t.strictSame(
    (await seen(message)).map(({ detail }) => [detail.machine, detail.first]),
    [
      [undefined, true],
      [undefined, undefined],
    ],
  )
})

t.test('every rule is told with its meaning, and met by a test above', (t) => {
  const met = new Set(REQUESTS.map(([, , rule]) => rule))
  for (const { name, meaning } of REQUEST_RULES) {
    t.ok(met.has(name) || name === 'head', name)
    t.ok(meaning.length > 10)
  }
  t.end()
})
