import { setMaxListeners } from 'node:events'
import type { Page } from 'playwright-core'
import t from 'tap'
import { naughtyStrings, skipWithoutThem } from '../../core/naughty-strings.ts'
import { openBrowser, skipWithoutBrowser } from '../../helpers/browser.ts'
import { startProcess } from '../../helpers/processes.ts'
import { startReceiver } from '../../helpers/receiver.ts'
import { sendV2, v2Body } from '../../helpers/send.ts'
import { startSink } from '../../helpers/sink.ts'
import { until } from '../../helpers/until.ts'
import { openDashboard, PASSWORD } from '../dashboard.ts'

setMaxListeners(50)

/** Those that a header field can have, the most dangerous ones first. */
const WORDS = naughtyStrings
  .filter((word) => word.trim() === word && word !== '' && word.length < 200 && !/[\r\n\0]/.test(word))
  .sort((a, b) => Number(/[<>"'`]/.test(b)) - Number(/[<>"'`]/.test(a)))
const MARKUP = WORDS.filter((word) => /[<>]/.test(word))
const PER_MESSAGE = 5
const OPENED = 2
const MESSAGES = Array.from({ length: Math.ceil(WORDS.length / PER_MESSAGE) }, (_, at) =>
  WORDS.slice(at * PER_MESSAGE, (at + 1) * PER_MESSAGE),
)

/** Everything that the page shows or has in a field, with the signs that are shown by their numbers as they were. */
const SHOWN = `(() => {
  const page = document.getElementById('page').cloneNode(true)
  for (const sign of page.querySelectorAll('.ctl')) sign.replaceWith(String.fromCodePoint(parseInt(sign.textContent.slice(2), 16)))
  return [page.textContent, ...[...page.querySelectorAll('input, textarea')].map(({ value }) => value), document.title].join('\\n')
})()`

t.test(
  'naughty strings are shown as they are on every page that has text of others, and nothing in them runs',
  { ...skipWithoutBrowser, ...skipWithoutThem },
  async (t) => {
    const sink = await startSink(t, {
      rcpt: ({ command }) => `550 5.1.1 ${WORDS[Number(/w(\d+)@/.exec(command)?.[1])]}`,
    })
    const receiver = await startReceiver(t)
    const { service, url, owner } = await openDashboard(t, {
      DELIVERY: `smtp://127.0.0.1:${sink.port}`,
      WEBHOOK_PRIVATE_NETWORKS: 'allow',
    })
    const { core } = service
    const { accountId, cookie } = await owner()
    const domain = 'ship.example'
    await service.giveKey(domain)
    await core.domains.add({ accountId, name: domain, state: 'active' })
    const { secret: apiKey } = await core.auth.createKey({ accountId, name: MARKUP[0] as string })
    await startProcess(t, 'delivery', service.env)

    const ids = await Promise.all(
      MESSAGES.map(async (words, at) => {
        const personalizations = [{ recipient: `w${at * PER_MESSAGE}@harbor.example`, 'x-apiheader': words[0] }]
        const from = { fromEmail: `desk@${domain}`, fromName: words[0] }
        const content = `<div>${words.join('</div>\n<div>')}</div>`
        const files = at < OPENED ? words.filter(isFileName) : []
        const attachments = files.map((fileName) => ({ fileName, fileContent: 'eA==' }))
        const { body } = await sendV2(
          url,
          apiKey,
          v2Body(
            { accountId, accountName: '', apiKey, domain },
            { personalizations, from, subject: words.join(' ¦ '), content, tags: words, attachments },
          ),
        )
        if (!body.data) throw new Error(`${at}: ${body.error_info?.error_message}`)
        return body.data.message_id
      }),
    )
    await until('every message to be refused by the server', async () => {
      const [row] = await service.sql`select count(*)::int as left from delivery_queue`
      return row?.left === 0
    })

    const context = await openBrowser(t)
    const [name, value] = cookie.split('=') as [string, string]
    await context.addCookies([{ name, value, url }])
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('dialog', (dialog) => {
      complaints.push(`${page.url()}: a dialog`)
      void dialog.dismiss()
    })
    page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error.message}`))
    page.on('request', (one) => {
      if (/^(?:http|ws)s?:/.test(one.url()) && !one.url().startsWith(url)) complaints.push(one.url())
    })
    page.on('console', (message) => {
      // The HTML of a message is a document of its own, in which Chromium says what it was not allowed to do.
      const ofMessage = /\/(?:html|preview)(?:\?|$)/.test(message.location().url)
      if (message.type() === 'error' && !ofMessage) complaints.push(`${page.url()}: ${message.text()}`)
    })
    const base = `${url}/app/${accountId}`
    /** Those of the words that the page does not show, by their position: control characters would confuse readers of the result. */
    const missing = async (words: readonly string[]) => {
      let left = words
      const isShown = async () => {
        // It fails while another page takes the place of this one.
        const shown = (await page.evaluate(SHOWN).catch(() => '')) as string
        left = words.filter((word) => !shown.includes(word))
        return left.length === 0
      }
      await until('the page', isShown, 10_000).catch(() => {})
      return left.map((word) => WORDS.indexOf(word))
    }
    const submit = async (button: string) => {
      const answered = page.waitForResponse((response) => response.request().method() === 'POST')
      await page.click(button)
      await answered
    }
    const shows = async (path: string, words: readonly string[]) => {
      await page.goto(`${base}${path}`)
      t.strictSame(await missing(words), [], path)
    }

    // Lists: subjects, tags, and replies of servers.
    const found = new Set<string>()
    for (let at: string | null = `${base}/messages`; at !== null; at = await nextOf(page)) {
      await page.goto(new URL(at, url).href)
      const shown = (await page.evaluate(SHOWN)) as string
      for (const word of WORDS) if (shown.includes(word)) found.add(word)
    }
    t.strictSame(
      WORDS.flatMap((word, at) => (found.has(word) ? [] : [at])),
      [],
      'the list of messages',
    )
    for (const [at, words] of MESSAGES.slice(0, OPENED).entries()) {
      const message = `/messages/${ids[at]}`
      await shows(message, words)
      await shows(`${message}?tab=files`, words.filter(isFileName))
      await shows(`${message}?tab=header`, words.slice(0, 1))
      await shows(`${message}?tab=transcript`, words.slice(0, 1))
    }
    await shows('/statistics?by=tag', [])
    await shows('/keys', MARKUP.slice(0, 1))

    // Names that users and operators give.
    const NAMES = MARKUP.filter((word) => word.length <= 80 && !/[\p{C}/]|\s\s/u.test(word)).slice(0, 12)
    for (const [at, word] of NAMES.entries()) {
      const user = await core.people.users.create({ name: word, email: `n${at}@people.example` }, BY)
      await core.people.members.add(accountId, user, 'viewer', BY)
      await core.accounts.create(word)
    }
    await shows('/team', NAMES)
    await shows('/audit', [])
    await page.goto(`${url}/app/operator/accounts`)
    t.strictSame(await missing(NAMES), [], 'accounts')

    // Templates and their previews, webhooks and what their receivers answer.
    await page.goto(`${base}/templates/new`)
    await page.fill('[name=name]', NAMES[0] as string)
    await submit('#page form button[type=submit]')
    const markup = MARKUP.join('\n')
    await page.fill('[name=html]', markup.replaceAll('{{', '{ {'))
    await page.fill('[name=subject]', NAMES[1] as string)
    await submit('#page form .btn[value=new]')
    t.strictSame(await missing(NAMES.slice(0, 2)), [], 'template')
    await shows('/templates', NAMES.slice(0, 1))
    await page.goto(`${base}/webhooks/new`)
    await page.fill('[name=url]', receiver.url)
    await page.fill('[name=label]', NAMES[2] as string)
    await submit('#page form button[type=submit]')
    await shows('/webhooks', NAMES.slice(2, 3))
    receiver.react = (_request, response) => response.writeHead(418).end(markup.slice(0, 1000))
    await page.click('#page a.go')
    await submit('form[action$="/test"] button')
    t.strictSame(await missing(NAMES.slice(2, 3)), [], 'webhook')
    t.match(await page.textContent('#page pre.any'), MARKUP[0] as string)

    // What only the operator sees.
    await core.queue.pause({ place: 'google', accountId: null, seconds: 600, reason: NAMES[3] as string })
    await core.returns.take({
      raw: Buffer.from(`From: <eve@evil.example>\r\nSubject: ${NAMES[4]}\r\n\r\n${MARKUP.join('\r\n')}\r\n`),
      recipients: [`postmaster@${service.config.returnPathHost}`],
      mailFrom: 'eve@evil.example',
    })
    await page.goto(`${url}/app/operator/queue`)
    t.strictSame(await missing(NAMES.slice(3, 4)), [], 'queue')
    await page.goto(`${url}/app/operator/returns`)
    await page.click('#page a.go')
    t.strictSame(await missing([NAMES[4] as string, ...MARKUP.slice(0, 20)]), [], 'a letter')

    // Forms that show what was entered, and say that it is wrong.
    await shows(`/messages?q=${encodeURIComponent(MARKUP[1] as string)}`, MARKUP.slice(1, 2))
    await context.clearCookies()
    await page.goto(`${url}/app/login?to=${encodeURIComponent(`/app/${MARKUP[2]}`)}`)
    await page.fill('[name=email]', MARKUP[3] as string)
    await page.fill('[name=password]', PASSWORD)
    await page.evaluate('document.querySelector(\'form[action="/app/login"]\').noValidate = true')
    await submit('form[action="/app/login"] button')
    t.strictSame(await missing(MARKUP.slice(3, 4)), [], 'log-in')
    t.strictSame(
      complaints.filter((one) => !/\/(?:login|messages\?q=).*status of 40[01]/.test(one)),
      [],
    )
  },
)

const isFileName = (word: string) => !/[/\\\p{C}]/u.test(word)
const BY = { keyId: null, address: null }

/** The link to older messages; null on the last page. */
function nextOf(page: Page): Promise<string | null> {
  return page.evaluate("document.querySelector('#page footer.more a[href*=after]')?.getAttribute('href') ?? null")
}
