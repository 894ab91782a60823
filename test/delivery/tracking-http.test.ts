import { simpleParser } from 'mailparser'
import t from 'tap'
import { acceptMessage } from '../core/submission.ts'
import { moveClock } from '../helpers/database.ts'
import { startDns } from '../helpers/dns.ts'
import type { Sender } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { startOutbox } from './outbox.ts'
import { headerOf, targetsIn, trackedOf, untracked } from './tracked.ts'
import { htmlCases, link } from './tracked-html.ts'

const refused = new Set<string>()
const offered = new Map<string, Buffer[]>()
const sink = await startSink(t, {
  dot({ message: { data, to } }) {
    const address = to[0] ?? ''
    if (data && address.startsWith('again.')) offered.set(address, [...(offered.get(address) ?? []), data])
    return refused.has(address) ? '451 4.3.0 later' : undefined
  },
})
const dns = await startDns(t, {})
const outbox = await startOutbox(
  t,
  { DELIVERY: `smtp://127.0.0.1:${sink.port}`, DNS_SERVERS: dns.address },
  { tracking: true },
)
const { service, sender } = outbox
const { send, copies, copy, html, verdict } = trackedOf(outbox, sink)
const BASE = service.config.publicUrl
const TABLE = htmlCases(BASE)

async function set(account: Sender, values: Record<string, unknown>): Promise<void> {
  await service.sql`update accounts set ${service.sql(values)} where id = ${account.accountId}`
}

async function senderWith(values: Record<string, unknown>): Promise<Sender> {
  const made = await service.makeSender({ tracking: true })
  await set(made, values)
  return made
}

t.test('opens and clicks of a new account are tracked: each link is its own, the pixel comes last', async (t) => {
  const content =
    '<html><body><p>See <a href="https://quay.example/a">a</a> <a href="https://quay.example/a">b</a></p></body></html>'
  const id = await send(sender, { content })
  const got = await html(id)
  t.equal(untracked(got), content)
  const common = { accountId: sender.accountId, messageId: id, recipientNo: 0, group: 0 }
  t.strictSame(targetsIn(got), [
    { kind: 'click', ...common, link: 0, url: 'https://quay.example/a' },
    { kind: 'click', ...common, link: 1, url: 'https://quay.example/a' },
    { kind: 'open', ...common, link: 0, url: '' },
  ])
  t.match(got, /<img src="[^"]+" width="1" height="1" alt="" style="border:0"><\/body><\/html>$/)
  t.ok([...got.matchAll(/(?:href|src)="([^"]+)"/g)].every(([, url]) => url?.startsWith(`${BASE}/t/`)))
  const { data } = await copy(id)
  t.notMatch(data.toString(), /quay\.example|^list-unsubscribe:/im, 'a link tells nothing; unsubscribing is off')
  t.equal(await verdict(sender, data), `pass ${sender.domain}`)
})

t.test('links are rewritten where readers follow them, and every other octet stays', async (t) => {
  const ids = await Promise.all(TABLE.map(([, content]) => send(sender, { content, settings: { opentrack: 0 } })))
  for (const [at, [what, content, urls = []]] of TABLE.entries()) {
    const got = await html(ids[at] as string)
    t.strictSame(
      targetsIn(got)
        .filter(({ url }) => url !== '')
        .map(({ url }) => url),
      urls,
      what,
    )
    let next = 0
    const written = [...content.matchAll(/(?<=href\s*=\s*)("[^"]*"|'[^']*'|[^\s>"']+)/gi)].map(([value]) =>
      value.replace(/^["']|["']$/g, ''),
    )
    const kept = got.replace(/https?:\/\/[^"'\s>]+\/t\/c\/[\w-]{40,}/g, () => {
      const url = urls[next++]
      return written.find((value) => sameUrl(value, url as string)) ?? ''
    })
    t.equal(kept, content, `${what}: the rest`)
  }
})

/** Is this how the URL is written? */
function sameUrl(written: string, url: string): boolean {
  const bare = written
    .replace(/&amp;|&#38;/g, '&')
    .replace(/&quot;/g, '"')
    .replace(/[\n ]/g, '')
  return bare === url || (URL.canParse(bare) && new URL(bare).href === url)
}

t.test('merge tags are merged before links are rewritten, and each copy has its own', async (t) => {
  const person = (recipient: string, id: string) => ({
    recipient,
    attributes: { ID: id, HTML: link('https://quay.example/in') },
  })
  const id = await send(sender, {
    personalizations: [
      person('a@harbor.example', '1&2'),
      { ...person('b@harbor.example', '3'), recipient_cc: ['c@harbor.example'] },
    ],
    content: `<a href="https://quay.example/?id=[%ID%]">x</a>[%HTML%]`,
  })
  const seen = (await copies(id, 3)).map(({ data }) =>
    targetsIn(data.toString().replace(/=\r\n/g, '').replaceAll('=3D', '=')),
  )
  t.strictSame(
    seen.map((targets) => targets.map(({ kind, recipientNo, link, url }) => `${kind} ${recipientNo} ${link} ${url}`)),
    [
      [
        'click 0 2 https://quay.example/?id=1&2',
        'click 0 3 https://quay.example/in',
        'click 0 0 https://quay.example/?id=1&2',
        'click 0 1 https://quay.example/in',
        'open 0 0 ',
      ],
      [
        'click 1 2 https://quay.example/?id=3',
        'click 1 3 https://quay.example/in',
        'click 1 0 https://quay.example/?id=3',
        'click 1 1 https://quay.example/in',
        'open 1 0 ',
      ],
      [
        'click 2 2 https://quay.example/?id=3',
        'click 2 3 https://quay.example/in',
        'click 2 0 https://quay.example/?id=3',
        'click 2 1 https://quay.example/in',
        'open 2 0 ',
      ],
    ],
  )
})

t.test('the message says what is tracked, else its account', async (t) => {
  const none = await senderWith({ open_tracking: false, click_tracking: false })
  const kinds = async (from: Sender, settings: Record<string, number>) =>
    targetsIn(await html(await send(from, { content: link('https://quay.example/a'), settings }))).map(
      ({ kind }) => kind,
    )
  t.strictSame(await kinds(sender, {}), ['click', 'open'])
  t.strictSame(await kinds(sender, { opentrack: 0 }), ['click'])
  t.strictSame(await kinds(sender, { clicktrack: 0 }), ['open'])
  t.strictSame(await kinds(sender, { opentrack: 0, clicktrack: 0 }), [])
  t.strictSame(await kinds(none, {}), [])
  t.strictSame(await kinds(none, { opentrack: 1 }), ['open'])
  t.strictSame(await kinds(none, { clicktrack: 1 }), ['click'])
  t.strictSame(await kinds(none, { unsubscribe: 1 }), ['unsubscribe'])
})

t.test('a subaccount starts with what its parent has, and then has its own', async (t) => {
  const parent = await senderWith({ click_tracking: false, footer_html: '<p>Pier 1</p>' })
  const account = (await service.core.accounts.list()).find(({ id }) => id === parent.accountId)
  const { secret } = await service.core.subaccounts.create(account as NonNullable<typeof account>, {
    username: 'wharf',
    email: 'wharf@ship.example',
    password: undefined,
    creditType: 'unlimited',
  })
  await service.core.domains.share(
    parent.accountId,
    { name: parent.domain, shared: true },
    { keyId: null, address: null },
  )
  await set(parent, { footer_html: '<p>Pier 2</p>', open_tracking: false, click_tracking: true })
  const content = link('https://quay.example/a')
  const own = await html(await send({ ...parent, apiKey: secret }, { content }))
  t.match(own, /^<a href="https:\/\/quay\.example\/a">x<\/a><p>Pier 1<\/p><img/)
})

t.test('List-Unsubscribe with one click is in the signed header, and a link at the end', async (t) => {
  const id = await send(sender, { content: '<body><p>x</p></body>', settings: { unsubscribe: 1, group: 7 } })
  const { data } = await copy(id)
  const header = headerOf(data)
  const [url] = /(?<=^List-Unsubscribe: <)[^>]+(?=>\r$)/m.exec(header) ?? []
  const target = {
    kind: 'unsubscribe',
    accountId: sender.accountId,
    messageId: id,
    recipientNo: 0,
    group: 7,
    link: 0,
  }
  const [{ url: optOut, ...rest } = { url: undefined }, ...others] = targetsIn(url ?? '')
  t.strictSame([rest, others], [target, []])
  t.match(optOut, /^[\w-]{30,}$/, 'the hash that holds when the address is forgotten, and not the address')
  t.match(header, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m)
  t.match(header.replace(/\r\n /g, ''), /h=.*list-unsubscribe:.*list-unsubscribe-post:/)
  t.equal(await verdict(sender, data), `pass ${sender.domain}`)
  const got = await html(id)
  t.match(
    got,
    new RegExp(`^<body><p>x</p><p style="font-size:12px"><a href="${url}">Unsubscribe</a></p><img [^>]+></body>$`),
  )
})

t.test('[%UNSUBSCRIBE_URL%] stands for the link wherever it is put, and then none is appended', async (t) => {
  const settings = { unsubscribe: 1, opentrack: 0 }
  const content = `<a href="[% unsubscribe_url %]">Leave</a> or <a href='[%UNSUBSCRIBE_URL%]'>leave</a> [%NAME%]${link('https://quay.example/?[%UNSUBSCRIBE_URL%]')}`
  const personalizations = [
    {
      recipient: 'lena@harbor.example',
      attributes: { NAME: 'Lena' },
      'x-headers': { 'X-Leave': '[%UNSUBSCRIBE_URL%]' },
    },
  ]
  const id = await send(sender, { content, personalizations, settings })
  const got = await html(id)
  const [url = ''] = new RegExp(`${BASE}/t/u/[\\w-]+`).exec(got) ?? []
  t.equal(got, `<a href="${url}">Leave</a> or <a href='${url}'>leave</a> Lena${link(`https://quay.example/?${url}`)}`)
  t.match(headerOf((await copy(id)).data).replace(/\r\n /g, ' '), `X-Leave: ${url}\r\n`)

  const own = [{ recipient: 'lena@harbor.example', attributes: { Unsubscribe_Url: 'https://quay.example/mine' } }]
  t.match(
    await html(await send(sender, { content, personalizations: own, settings: { ...settings, clicktrack: 0 } })),
    /^<a href="https:\/\/quay\.example\/mine">Leave<.*>Unsubscribe</,
  )
  t.match(await html(await send(sender, { content })), /^<a href="">Leave</, 'off: empty, as any tag without a value')
})

t.test('a List-Unsubscribe of the caller is left alone and not doubled', async (t) => {
  for (const name of ['List-Unsubscribe', 'list-unsubscribe-post']) {
    const personalizations = [
      { recipient: 'lena@harbor.example', 'x-headers': { [name]: '<https://quay.example/leave>' } },
    ]
    const { data } = await copy(await send(sender, { personalizations, settings: { unsubscribe: 1 } }))
    t.strictSame(
      headerOf(data).match(/^list-unsubscribe.*$/gim),
      [`${name}: <https://quay.example/leave>\r`].map((line) => line.trim()),
    )
    t.equal(await verdict(sender, data), `pass ${sender.domain}`)
  }
})

t.test('a footer is merged, tracked and put before the pixel, unless the message does without', async (t) => {
  const footer = `<p>[%PIER%] <a href="https://quay.example/imprint">Imprint</a> <a href="[%UNSUBSCRIBE_URL%]">Leave</a> ü</p>`
  const account = await senderWith({ footer_html: footer, footer_text: 'Pier [%PIER%]', unsubscribe_link: true })
  const personalizations = [{ recipient: 'lena@harbor.example', attributes: { PIER: '4' } }]
  const content = '<html><body><p>x</p></body><!-- </body> --></html>'
  const id = await send(account, { content, personalizations })
  const got = await html(id)
  const [, click = '', leave = '', pixel = ''] =
    /imprint|href="([^"]+\/t\/c\/[^"]+)".*href="([^"]+\/t\/u\/[^"]+)".*src="([^"]+)"/.exec(got) ?? []
  t.equal(
    got,
    `<html><body><p>x</p><p>4 <a href="${click}">Imprint</a> <a href="${leave}">Leave</a> ü</p>` +
      `<img src="${pixel}" width="1" height="1" alt="" style="border:0"></body><!-- </body> --></html>`,
  )
  t.strictSame(
    targetsIn(got).map(({ kind, url }) => (kind === 'unsubscribe' ? kind : `${kind} ${url}`)),
    ['click https://quay.example/imprint', 'unsubscribe', 'open '],
  )
  const settings = { footer: 0, unsubscribe: 0, opentrack: 0, clicktrack: 0 }
  t.equal(await html(await send(account, { content, personalizations, settings })), content)

  const parts = { kind: 'parts', html: '<p>x</p>', text: 'Berth 4: https://quay.example/4', amp: undefined } as const
  const { messageId } = await acceptMessage(service, account, { content: parts })
  const mail = await simpleParser((await copy(messageId)).data)
  t.match(mail.text, /^Berth 4: http\S+\/t\/c\/\S+\n\nPier \n\nUnsubscribe: http\S+\/t\/u\/\S+$/)
  t.strictSame(
    targetsIn(`${mail.text}${mail.html}`).map(({ kind, link }) => `${kind} ${link}`),
    ['click 0', 'unsubscribe 0', 'click 1', 'unsubscribe 0', 'open 0'],
  )
})

t.test(
  'in a text that is generated from HTML, no URL within another one is replaced, nor one with an apostrophe',
  async (t) => {
    const addresses = ['whatsapp://send?text=', 'intent://scan/?u=', 'myapp://open?u=', 'https://bücher.example/?next=']
    const hrefs = addresses.map((address) => `${address}https://quay.example/a`)
    const content = `<p>Read https://quay.example's blog</p>${hrefs.map((href) => `<p><a href="${href}">Go</a></p>`).join('')}`
    const { text } = await simpleParser((await copy(await send(sender, { content }))).data)
    t.equal(text?.trim(), ["Read https://quay.example's blog", ...hrefs.map((href) => `Go (${href})`)].join('\n\n'))
  },
)

t.test('AMP is unchanged except for its merge tags', async (t) => {
  const amp = '<html amp4email><body><a href="https://quay.example/a">[%NAME%]</a></body></html>'
  const { data } = await copy(await send(sender, { ampcontent: amp }))
  t.match(data.toString(), amp.replace('[%NAME%]', ''))
})

t.test(
  'what was accepted stays as it is, whatever becomes of the account, and a retry sends the same octets',
  async (t) => {
    const account = await senderWith({ footer_html: '<p>Pier 1</p>', unsubscribe_link: true })
    const to = 'again.lena@harbor.example'
    refused.add(to)
    const id = await send(account, { personalizations: [{ recipient: to }], content: link('https://quay.example/a') })
    await outbox.attempted(id)
    await set(account, {
      footer_html: '<p>Pier 2</p>',
      unsubscribe_link: false,
      open_tracking: false,
      click_tracking: false,
    })
    await service.sql`update domains set envelope_name = 'go',
      records = ${service.sql.json({ [`CNAME go.${account.domain}`]: { state: 'right' } })} where name = ${account.domain}`
    refused.delete(to)
    await moveClock(service.sql, '30 minutes')
    await outbox.inState(id, 'delivered')
    const [first, second] = (offered.get(to) ?? []).map((octets) => octets.toString('latin1'))
    t.match(first, /Pier 1/)
    t.equal(second, first)
    t.equal(targetsIn(first?.replace(/=\r\n/g, '').replaceAll('=3D', '=') ?? '').length, 6, 'two of them in its text')
  },
)

t.test('links lead to the own host of the domain while its record is right, else to the service', async (t) => {
  const account = await service.makeSender({ tracking: true })
  const { core } = service
  const by = { keyId: null, address: null }
  const name = `own.${account.domain}`
  await core.domains.add({ accountId: account.accountId, name, envelopeName: 'go' })
  const publish = async () => {
    for (const { type, host, value, purpose } of (await core.domains.show(name)).dns) {
      if (purpose !== 'envelope') dns.zones[host] = type === 'TXT' ? { txt: [value] } : { cname: value }
    }
    await core.domains.verify(account.accountId, name, by)
  }
  const bases = async () => {
    const from = { fromEmail: `desk@${name}` }
    const content = link('https://quay.example/a') + link(`http://go.${name}:${service.config.apiPort}/t/u/x`)
    const got = await html(await send(account, { from, content, settings: { unsubscribe: 1 } }))
    return [...new Set([...got.matchAll(/"(https?:\/\/[^"]+)\/t\/./g)].map(([, base]) => base))]
  }
  await publish()
  const own = `http://go.${name}:${service.config.apiPort}`
  t.strictSame(await bases(), [BASE])
  const record = (await core.domains.show(name)).dns.find(({ purpose }) => purpose === 'envelope')
  dns.zones[record?.host as string] = { cname: record?.value as string }
  await core.domains.verify(account.accountId, name, by)
  t.strictSame(await bases(), [own], 'and a link to there is one of ours')
})

t.test('values that would make a footer huge are refused', async (t) => {
  const account = await senderWith({ footer_html: '[%A%]'.repeat(1000) })
  const personalizations = [{ recipient: 'lena@harbor.example', attributes: { A: 'a'.repeat(40_000) } }]
  await t.rejects(send(account, { personalizations }), /"error_code":113/)
  t.match(await send(account, { personalizations, settings: { footer: 0 } }), /^[0-9a-f]{32}$/)
})
