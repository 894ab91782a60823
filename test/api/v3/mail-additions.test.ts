import { OPERATOR } from '@postrider/core'
import t from 'tap'
import { targetsIn } from '../../delivery/tracked.ts'
import type { Sender } from '../../helpers/service.ts'
import type { Copy } from '../arrivals.ts'
import { ask, refusedV3 } from './ask.ts'
import { proves } from './conformance/proves.ts'
import { type Fields, mailBody } from './mail.ts'
import { makeMailArrivals } from './mail-arrivals.ts'

const { service, base, sender, send, copies, story } = await makeMailArrivals(t)
const PIXEL = '<img src="OPEN" width="1" height="1" alt="" style="border:0">'
const OWN_LINE = '<p style="font-size:12px"><a href="LEAVE">Unsubscribe</a></p>'

/** The texts of a mail as they arrive; our links told by what they are for. */
async function arrived(
  html: string,
  tracking: Fields,
  extra: Fields = {},
  by: Sender = sender,
): Promise<{ html: string; text: string; copy: Copy }> {
  const content = [
    { type: 'text/plain', value: 'Berth https://quay.example/t?a=1 %leave%' },
    { type: 'text/html', value: html },
  ]
  const body = mailBody(by, { content, tracking_settings: tracking, ...extra })
  const [copy] = (await copies(await ask(base, { path: '/mail/send', key: by.apiKey, body }))) as [Copy]
  return { html: told(String(copy.mail.html)), text: told(copy.mail.text ?? '').trimEnd(), copy }
}

function told(text: string): string {
  return text.replace(/https?:\/\/[\w.-]+:\d+\/t\/[ocup]\/[\w-]{40,}/g, (link) => {
    const [target] = targetsIn(link)
    return { open: 'OPEN', unsubscribe: 'LEAVE', preferences: 'CHOOSE', click: `CLICK(${target?.url})` }[
      target?.kind ?? 'open'
    ]
  })
}

t.test(
  'a footer of the message replaces that of the account, at the same position, with its text unchanged',
  async (t) => {
    proves(t, 'footer')
    const footer = (setting: Fields) => ({ mail_settings: { footer: setting } })
    const own = { enable: true, text: 'Bye [%NAME%]', html: '<i>Bye [%NAME%]</i>' }
    const page = '<html><body><p>Hi</p></body></html>'
    const plain = await arrived(page, {}, footer(own))
    t.equal(plain.html, '<html><body><p>Hi</p><i>Bye [%NAME%]</i></body></html>')
    t.equal(plain.text, 'Berth https://quay.example/t?a=1 %leave%\n\nBye [%NAME%]')

    const other = await service.makeSender()
    await service.sql`
    update accounts set footer_html = '<b>Ours [%NAME%] [%UNSUBSCRIBE_URL%]</b>', footer_text = 'Ours'
     where id = ${other.accountId}`
    const leave = { subscription_tracking: { enable: true } }
    const ours = await arrived('<p>[%UNSUBSCRIBE_URL%]</p>', leave, {}, other)
    t.equal(
      ours.html,
      '<p>[%UNSUBSCRIBE_URL%]</p><b>Ours  LEAVE</b>',
      'the account’s is in our merge tags all the same',
    )
    t.equal((await arrived('<p>Hi</p>', leave, footer(own), other)).html, `<p>Hi</p><i>Bye [%NAME%]</i>${OWN_LINE}`)
    const halved = await arrived('<p>Hi</p>', {}, footer({ enable: true, text: 'Bye' }), other)
    t.strictSame([halved.html, halved.text.split('\n\n')[1]], ['<p>Hi</p>', 'Bye'], 'in its place, both of them')
    t.equal((await arrived('<p>Hi</p>', {}, footer({ enable: false }), other)).html, '<p>Hi</p>')
  },
)

t.test("the account's sentence is around the unsubscribe link, unless the message has its own", async (t) => {
  const other = await service.makeSender()
  const texts = { unsubscribeHtml: '<i>No more? <%Leave%></i>', unsubscribeText: 'No more? <%%>' }
  await service.core.accounts.settings.change(other.accountId, texts, OPERATOR)
  const leave = (more: Fields = {}) => ({ subscription_tracking: { enable: true, ...more } })
  const ours = await arrived('<p>Hi</p>', leave(), {}, other)
  t.equal(ours.html, '<p>Hi</p><i>No more? <a href="LEAVE">Leave</a></i>')
  t.match(ours.text, /\n\nNo more\? LEAVE$/)
  const own = await arrived('<p>Hi</p>', leave({ html: '<b><%Out%></b>' }), {}, other)
  t.equal(own.html, '<p>Hi</p><b><a href="LEAVE">Out</a></b>')
  t.equal((await arrived('<p>Hi</p>', {}, {}, other)).html, '<p>Hi</p>')
})

t.test('the pixel replaces the first substitution_tag; without the tag it is added at the end', async (t) => {
  proves(t, 'open-tag')
  const open = (substitution_tag: string) => ({ open_tracking: { enable: true, substitution_tag } })
  t.equal((await arrived('<p>%o</p>%o<i>%o</i>', open('%o'))).html, `<p>${PIXEL}</p><i></i>`)
  t.equal((await arrived('<p>Hi</p>', open('%o'))).html, `<p>Hi</p>${PIXEL}`)
  t.equal((await arrived('<body>Hi</body>', open('</body>'))).html, `<body>Hi${PIXEL}`, 'whatever it stands for')
  t.equal((await arrived('<p>%o</p>', { open_tracking: { enable: false, substitution_tag: '%o' } })).html, '<p>%o</p>')
  const across = { ...open('i</body>'), subscription_tracking: { enable: true }, click_tracking: { enable: true } }
  t.equal(
    (await arrived('<body>Hi</body><a href="https://quay.example/">x</a>', across)).html,
    `<body>H${PIXEL}${OWN_LINE}<a href="CLICK(https://quay.example/)">x</a>`,
    'also where it reaches beyond the end',
  )
  t.equal((await arrived('<body>Hi</body>', across)).html, `<body>H${PIXEL}${OWN_LINE}`)
  const many = await arrived('e'.repeat(5000), open('e'))
  t.equal(many.html, `${PIXEL}${'e'.repeat(4000)}`, 'of very many a thousand are looked at')
})

t.test('the subscription_tracking text is added at the end, with the link at its mark', async (t) => {
  proves(t, 'subscription_tracking')
  const leave = (setting: Fields) => ({ subscription_tracking: { enable: true, ...setting } })
  const said = await arrived(
    '<body><p>Hi</p></body>',
    leave({ text: 'Leave: <% %>.', html: '<b>Or <% leave <i>us</i> %></b>' }),
  )
  t.equal(said.html, '<body><p>Hi</p><b>Or <a href="LEAVE">leave <i>us</i></a></b></body>')
  t.equal(said.text.split('\n\n')[1], 'Leave: LEAVE.')
  t.match(said.copy.raw, /\r\nList-Unsubscribe: <http/)
  const bare = await arrived('<p>Hi</p>', leave({ text: 'Or <%leave%>', html: 'Or <%%>' }))
  t.equal(bare.html, '<p>Hi</p>Or <a href="LEAVE">LEAVE</a>')
  t.equal(bare.text.split('\n\n')[1], 'Or leave ( LEAVE )')
  const unmarked = await arrived('<p>Hi</p>', leave({ html: 'Leave' }))
  t.strictSame(
    [unmarked.html, unmarked.text.split('\n\n')[1]],
    ['<p>Hi</p>Leave <a href="LEAVE">LEAVE</a>', 'Unsubscribe: LEAVE'],
    'the link is there all the same',
  )
  const long = await arrived('<p>Hi</p>', leave({ html: '<% %>'.repeat(2000) }))
  t.equal(long.html.match(/LEAVE">/g)?.length, 10, 'marks are bounded')
})

t.test('substitution_tag of subscription_tracking is the bare address, and the sentences are not said', async (t) => {
  proves(t, 'subscription_tracking')
  const setting = { enable: true, text: 'T <% %>', html: 'H <% %>', substitution_tag: '%leave%' }
  const both = { subscription_tracking: setting, click_tracking: { enable: true } }
  const { html, text } = await arrived('<a href="%leave%">x</a> <a href="https://quay.example/?u=%leave%">y</a>', both)
  t.equal(html, '<a href="LEAVE">x</a> <a href="https://quay.example/?u=LEAVE">y</a>')
  t.equal(text, 'Berth https://quay.example/t?a=1 LEAVE')
  t.equal(
    (await arrived('<p>Hi</p>', both)).html,
    '<p>Hi</p>H <a href="LEAVE">LEAVE</a>',
    'where the tag is missing they are',
  )
  const amp = { type: 'text/x-amp-html', value: '<a href="%leave%">x</a>' }
  const content = [{ type: 'text/plain', value: 'Hi' }, amp, { type: 'text/html', value: 'Hi' }]
  const [copy] = (await copies(await send({ content, tracking_settings: both }))) as [Copy]
  t.match(copy.raw, /text\/x-amp-html[^<]+<a href="http[^"%]+\/t\/u\/[^"%]+">x<\/a>/, 'in AMP too')
})

t.test(
  'mail of a group has its unsubscribe sentence, link and one-click header, with any subscription_tracking setting',
  async (t) => {
    proves(t, 'asm.group_id')
    const { id } = await service.core.groups.create(sender.accountId, {
      id: 900,
      name: 'Tides',
      description: '',
      isDefault: false,
    })
    const asm = { asm: { group_id: id } }
    const LINKS = '<a href="LEAVE">Unsubscribe From This List</a> | <a href="CHOOSE">Manage Email Preferences</a>'
    const LINE = `<p style="font-size:12px">${LINKS}</p>`
    const TEXT = 'Unsubscribe From This List ( LEAVE ) | Manage Email Preferences ( CHOOSE )'
    for (const tracking of [{}, { subscription_tracking: { enable: false } }, { subscription_tracking: null }]) {
      const { html, text, copy } = await arrived('<body><p>Hi</p></body>', tracking as Fields, asm)
      t.equal(html, `<body><p>Hi</p>${LINE}</body>`)
      t.equal(text.split('\n\n')[1], TEXT)
      const [link = ''] = /(?<=\r\nList-Unsubscribe: <)[^>]+/.exec(copy.raw) ?? []
      t.match(copy.raw, /\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n/)
      t.match(targetsIn(link)[0], { kind: 'unsubscribe', group: id })
    }
    const own = { subscription_tracking: { enable: true, html: 'Or <% leave %>' } }
    const said = await arrived('<p>Hi</p>', own, asm)
    t.equal(said.html, '<p>Hi</p>Or <a href="LEAVE">leave</a>', 'a sentence of one’s own goes before it')
    t.equal(said.text.split('\n\n')[1], TEXT)
    for (const tag of ['asm_group_unsubscribe_raw_url', 'asm_global_unsubscribe_raw_url', 'asm_preferences_raw_url']) {
      const tagged = await arrived(`<a href="<%${tag}%>">x</a>`, {}, asm)
      t.equal(tagged.html, `<a href="${tag.includes('preferences') ? 'CHOOSE' : 'LEAVE'}">x</a>`, tag)
      t.equal(tagged.text.split('\n\n')[1], TEXT, 'the other part has no tag')
      t.match(tagged.copy.raw, /\r\nList-Unsubscribe: </)
    }
    const both = await arrived('<%asm_group_unsubscribe_url%>', own, asm)
    t.equal(both.html, '<a href="LEAVE">Unsubscribe From This List</a>', 'one link is enough')
    const header = await arrived(
      '<p>Hi</p>',
      {},
      { ...asm, headers: { 'List-Unsubscribe': '<mailto:x@quay.example>' } },
    )
    t.match(header.copy.raw, /\r\nList-Unsubscribe: <mailto:x@quay\.example>\r\n/, 'a header of one’s own stays')
    t.equal(header.html, `<p>Hi</p>${LINE}`)
    const without = await arrived('<p>Hi</p>', {})
    t.strictSame([without.html, without.copy.raw.includes('List-Unsubscribe')], ['<p>Hi</p>', false])
  },
)

t.test('links of the text part are tracked only with enable_text', async (t) => {
  proves(t, 'tracking')
  const link = '<a href="https://quay.example/">x</a>'
  const clicks = async (setting: Fields) => {
    const { html, text } = await arrived(link, { click_tracking: setting })
    return [html.includes('CLICK'), text.includes('CLICK(https://quay.example/t?a=1)')]
  }
  t.strictSame(await clicks({ enable: true, enable_text: true }), [true, true])
  t.strictSame(await clicks({ enable: true, enable_text: false }), [true, false])
  t.strictSame(await clicks({ enable: true }), [true, false])
  t.strictSame(await clicks({ enable: false, enable_text: true }), [false, false])
})

t.test('ganalytics adds missing parameters to the links of HTML, tracked or not', async (t) => {
  proves(t, 'ganalytics')
  const analytics = { enable: true, utm_source: 'ship & co', utm_campaign: 'spring', utm_term: '', nothing: 'x' }
  const html = [
    '<a href="https://quay.example">1</a>',
    '<a href="https://quay.example/p?a=1&amp;utm_source=mine#top">2</a>',
    '<a href="mailto:a@quay.example">3</a>',
    '<a href="https://quay.example/?" clicktracking=off>4</a>',
    `<a href="https://quay.example/${'x'.repeat(4060)}">5</a>`,
  ]
  const added = 'utm_source=ship%20%26%20co&utm_campaign=spring'
  const untracked = await arrived(html.slice(0, 4).join(''), {
    ganalytics: analytics,
    click_tracking: { enable: false },
  })
  t.equal(
    untracked.html,
    `<a href="https://quay.example?${added.replace('&', '&#38;')}">1</a>` +
      '<a href="https://quay.example/p?a=1&#38;utm_source=mine&#38;utm_campaign=spring#top">2</a>' +
      html.slice(2, 4).join(''),
  )
  t.equal(untracked.text, 'Berth https://quay.example/t?a=1 %leave%')
  const tracked = await arrived(html.join(''), { ganalytics: analytics, click_tracking: { enable: true } })
  t.match(tracked.html, `<a href="CLICK(https://quay.example?${added})">1</a>`)
  t.match(tracked.html, 'CLICK(https://quay.example/p?a=1&utm_source=mine&utm_campaign=spring#top)')
  t.match(
    tracked.html,
    `CLICK(https://quay.example/${'x'.repeat(4060)})`,
    'one that would grow too long stays as it is',
  )
})

t.test('what a mail says about what is added to it is kept with it, and bounded', async (t) => {
  const tracking_settings = {
    open_tracking: { enable: true, substitution_tag: '%o' },
    click_tracking: { enable: true },
    subscription_tracking: { enable: false, text: 'T' },
    ganalytics: { enable: true, utm_source: 'ship' },
  }
  t.strictSame((await story(await send({ tracking_settings }))).settings, {
    clickTracking: true,
    openTracking: true,
    openTag: '%o',
    clickTrackingInText: false,
    linkParameters: { utm_source: 'ship' },
  })
  const refuse = (name: string, setting: Fields, field: string, message: RegExp) =>
    send({ tracking_settings: { [name]: { enable: true, ...setting } } }).then((answer) =>
      refusedV3(t, answer, [400, message, `tracking_settings.${field}`]),
    )
  await refuse('open_tracking', { substitution_tag: 'x'.repeat(65_537) }, 'open_tracking', /at most/)
  await refuse('open_tracking', { substitution_tag: '\0' }, 'open_tracking', /NUL/)
  await refuse('subscription_tracking', { text: '\ud800' }, 'subscription_tracking', /Unicode/)
  await refuse('ganalytics', { utm_source: 'x'.repeat(4097) }, 'ganalytics', /at most/)
  refusedV3(t, await send({ mail_settings: { footer: { enable: true, html: '\0' } } }), [
    400,
    /NUL/,
    'mail_settings.footer',
  ])
  const groups = Array.from({ length: 25 }, (_, at) => at + 1)
  for (const id of groups) {
    await service.core.groups.create(sender.accountId, { id, name: `Group ${id}`, description: '', isDefault: false })
  }
  t.match((await story(await send({ asm: { group_id: 1, groups_to_display: groups } }))).settings, {
    groupsToDisplay: groups,
  })
})
