import { randomUUID } from 'node:crypto'
import type { NewVersion } from '@postrider/core'
import t from 'tap'
import { until } from '../../helpers/until.ts'
import type { Copy } from '../arrivals.ts'
import { complaintsOf, refusedV3 } from './ask.ts'
import { proves } from './conformance/proves.ts'
import { type Fields, toLena } from './mail.ts'
import { makeMailArrivals, messageIdOf } from './mail-arrivals.ts'

const { service, sender, sink, send, copies, story } = await makeMailArrivals(t)
const { sql, core } = service
const { accountId } = sender
/** A template decides about subject and content. */
const BARE_ENVIRONMENT = { subject: undefined, content: undefined }

async function makeTemplate(generation: 'legacy' | 'dynamic', version: Partial<NewVersion> = {}): Promise<string> {
  const { id } = await core.editableTemplates.create({ accountId, name: 'Receipt', generation })
  await core.editableTemplates.addVersion({ accountId, id }, { name: 'v1', subject: '', ...version })
  return id
}

const personalized = (all: readonly Fields[]): Fields => ({
  personalizations: all.map((own, at) => ({ to: [{ email: `r${at}@harbor.example` }], ...own })),
})
const textOf = ({ raw }: Copy): string => raw.slice(raw.indexOf('\r\n\r\n') + 4).trimEnd()
const onlyText = (value: string): Fields => ({ content: [{ type: 'text/plain', value }] })

/** What is told of a delivery that never was sent. */
async function dropOf(answer: Awaited<ReturnType<typeof send>>): Promise<Record<string, unknown>> {
  const found = await until('the drop', async () => {
    const { events, deliveries } = await story(answer)
    const dropped = events.find(({ type }) => type === 'dropped')
    const isOver = deliveries.every(({ state }) => state === 'dropped')
    return (
      dropped && isOver && { detail: dropped.detail, states: deliveries.map(({ state, reason }) => [state, reason]) }
    )
  })
  return found as unknown as Record<string, unknown>
}

t.test('P16: a dynamic template is rendered with the data of each recipient', async (t) => {
  proves(t, 'template_id', 'dynamic_template_data')
  const id = await makeTemplate('dynamic', {
    subject: 'For {{{firstName}}}',
    html: '<p>{{firstName}}</p>{{#each items}}<i>{{name}}</i>{{/each}}{{#each sizes}}{{@key}}={{this}};{{/each}}',
    plain: 'Hello {{firstName}}',
  })
  const answer = await send({
    ...BARE_ENVIRONMENT,
    template_id: id,
    ...personalized([
      { dynamic_template_data: { firstName: 'Ada & Co', items: [{ name: 'raft' }], sizes: { zebra: 1, ab: 2 } } },
      { dynamic_template_data: { firstName: 'Lena' } },
      {},
    ]),
  })
  const all = await copies(answer, 3)
  t.strictSame(
    all.map(({ mail }) => [mail.subject, mail.html]),
    [
      // An object's own order, whatever order the database has.
      ['For Ada & Co', '<p>Ada &amp; Co</p><i>raft</i>zebra=1;ab=2;'],
      ['For Lena', '<p>Lena</p>'],
      ['For', '<p></p>'],
    ],
  )
  t.match(all[1]?.raw, /\r\n\r\nHello Lena\r\n/)
})

t.test('the subject and content of the call stand where the template has none', async (t) => {
  const id = await makeTemplate('dynamic', { html: '<p>{{a}}</p>', generatePlain: false })
  const answer = await send({
    template_id: id,
    subject: 'Mine {{a}}',
    content: [
      { type: 'text/plain', value: 'Text {{a}}' },
      { type: 'text/html', value: '<p>Mine</p>' },
    ],
    ...toLena({ dynamic_template_data: { a: '1' } }),
  })
  const [copy] = (await copies(answer)) as [Copy]
  t.match(copy.mail, { subject: 'Mine {{a}}', html: '<p>1</p>' })
  t.match(copy.raw, /\r\nText \{\{a\}\}\r\n/, 'what is not the template’s is no template')
  refusedV3(t, await send({ ...BARE_ENVIRONMENT, template_id: id, ...toLena({}) }), [
    400,
    /^The subject is required/,
    'subject',
  ])
  const empty = await makeTemplate('dynamic', { subject: 's' })
  refusedV3(t, await send({ ...BARE_ENVIRONMENT, template_id: empty, ...toLena({}) }), [
    400,
    /^Unless a valid/,
    'content',
  ])
})

t.test('P17 and P18: substitutions, malformed ids, data without a template are refused', async (t) => {
  const id = await makeTemplate('dynamic', { subject: 's', plain: 'x' })
  const both = await send({ template_id: id, ...toLena({ substitutions: { a: 'b' } }) })
  refusedV3(t, both, [400, 'Substitutions may not be used with dynamic templating', 'personalizations.0.substitutions'])
  const welcome = "The template_id must be a valid GUID, you provided 'welcome'."
  refusedV3(t, await send({ template_id: 'welcome' }), [400, welcome, 'template_id'])
  t.equal(complaintsOf(await send(toLena({ dynamic_template_data: { a: 1 } })))[0]?.field, 'template_id')
})

t.test(
  'P19: with an unknown template, or one without an active version, the call returns 202 and the message is dropped',
  async (t) => {
    proves(t, 'template_id-unknown')
    const { id: blank } = await core.editableTemplates.create({ accountId, name: 'x', generation: 'dynamic' })
    const stranger = await service.makeSender()
    const { id: others } = await core.editableTemplates.create({
      accountId: stranger.accountId,
      name: 'x',
      generation: 'dynamic' as const,
    })
    await core.editableTemplates.addVersion(
      { accountId: stranger.accountId, id: others },
      { name: 'v', subject: 's', plain: 'x' },
    )
    for (const id of ['d-5f3b2c1a9e8d4f7ab6c5d4e3f2a1b0c9', blank, others, randomUUID()]) {
      const answer = await send({ template_id: id, ...personalized([{}, {}]) })
      t.equal(answer.status, 202)
      t.match(await dropOf(answer), {
        detail: { reason: 'template' },
        states: [
          ['dropped', 'template'],
          ['dropped', 'template'],
        ],
      })
      const bare = await send({ ...BARE_ENVIRONMENT, template_id: id })
      t.equal((await dropOf(bare)).states?.toString(), 'dropped,template', 'without subject and content too')
    }
  },
)

t.test(
  'a template that does not render drops the mail and says why, and the next mail goes the same way',
  async (t) => {
    const broken = await makeTemplate('dynamic', { subject: 's', html: 'ok', plain: 'x {{#if a}}' })
    const answer = await send({ ...BARE_ENVIRONMENT, template_id: broken, ...personalized([{}, {}]) })
    t.match(await dropOf(answer), {
      detail: { reason: 'rendering', problem: /line 1, column/ },
      states: [
        ['dropped', 'rendering'],
        ['dropped', 'rendering'],
      ],
    })
    const large = await makeTemplate('dynamic', {
      subject: 's',
      plain: `{{#each a}}{{#each ../a}}${'x'.repeat(1000)}{{/each}}{{/each}}`,
    })
    const grown = await send({
      ...BARE_ENVIRONMENT,
      template_id: large,
      ...toLena({ dynamic_template_data: { a: Array.from({ length: 200 }, () => 1) } }),
    })
    t.match(await dropOf(grown), { detail: { reason: 'rendering', problem: /larger than 10 MB/ } })
    const long = await makeTemplate('dynamic', { subject: '{{{a}}}', plain: 'x' })
    const subject = await send({
      ...BARE_ENVIRONMENT,
      template_id: long,
      ...toLena({ dynamic_template_data: { a: 'x'.repeat(5000) } }),
    })
    t.match(await dropOf(subject), { detail: { reason: 'rendering', problem: /subject/ } })
    const line = await send({
      ...BARE_ENVIRONMENT,
      template_id: long,
      ...toLena({ dynamic_template_data: { a: 'a\r\nBcc: x@y.example' } }),
    })
    t.equal((await copies(line))[0]?.mail.subject, 'a Bcc: x@y.example', 'data breaks out of no header')
  },
)

t.test('what was accepted keeps its template, whatever becomes of that', async (t) => {
  const id = await makeTemplate('dynamic', { subject: 'Before {{a}}', plain: 'Before' })
  const at = Math.floor(Date.now() / 1000) + 3
  const answer = await send({
    ...BARE_ENVIRONMENT,
    template_id: id,
    send_at: at,
    ...toLena({ dynamic_template_data: { a: 1 } }),
  })
  await core.editableTemplates.remove({ accountId, id })
  t.equal((await copies(answer))[0]?.mail.subject, 'Before 1')
})

t.test('a thousand recipients get one copy each, and a retry sends the same octets', async (t) => {
  const id = await makeTemplate('dynamic', { subject: 'No {{n}}', html: '<p>{{n}} <%asm_global_unsubscribe_url%></p>' })
  const names = Array.from({ length: 1000 }, (_, n) => ({ dynamic_template_data: { n } }))
  const answer = await send({ ...BARE_ENVIRONMENT, template_id: id, ...personalized(names) })
  const all = await copies(answer, 1000)
  t.strictSame(new Set(all.map(({ mail }) => mail.subject)), new Set(names.map((_, n) => `No ${n}`)))
  t.ok(all.every(({ recipient, mail }) => `r${mail.subject?.slice(3)}@harbor.example` === recipient))

  const message = (await core.messages.load([(await story(answer)).id])).values().next().value
  if (!message) throw new Error('gone')
  const finished = await sql<{ recipient: string; recipientNo: number; personal: unknown }[]>`
    select recipient, recipient_no as "recipientNo", personal from finished_deliveries
     where message_id = ${message.id}::uuid and recipient_no in (0, 7, 999)`
  t.ok(finished.length > 0)
  for (const delivery of finished) {
    const { octets: one } = await core.messages.render(message, delivery)
    const { octets: two } = await core.messages.render(message, delivery)
    t.ok(one.equals(two))
    const sent = sink.messages.findLast(({ to }) => to[0] === delivery.recipient)
    t.ok(sent?.data.subarray(-one.length).equals(one), 'the octets that were sent, in any process')
  }
})

t.test('small templates that make large mail are all delivered', async (t) => {
  const id = await makeTemplate('dynamic', {
    subject: 's',
    plain: '{{#each a}}{{#each ../a}}0123456789abcdef{{/each}}\n{{/each}}',
  })
  const a = Array.from({ length: 300 }, () => 1)
  const answer = await send({
    ...BARE_ENVIRONMENT,
    template_id: id,
    ...personalized(Array.from({ length: 6 }, () => ({ dynamic_template_data: { a } }))),
  })
  const all = await copies(answer, 6)
  t.ok(all.every(({ raw }) => raw.length > 1_400_000))
  t.equal(new Set(all.map(({ recipient }) => recipient)).size, 6)
})

t.test('v2’s merge tags are plain text in templates, data and substitutions', async (t) => {
  const id = await makeTemplate('dynamic', { subject: '[%NAME%] {{a}}', plain: '[%X%] {{{a}}}' })
  const [one] = (await copies(
    await send({ ...BARE_ENVIRONMENT, template_id: id, ...toLena({ dynamic_template_data: { a: '[%A%]' } }) }),
  )) as [Copy]
  t.strictSame([one.mail.subject, textOf(one)], ['[%NAME%] [%A%]', '[%X%] [%A%]'])
  const [other] = (await copies(
    await send({ ...onlyText('-a-'), ...toLena({ substitutions: { '-a-': '[%A%]' } }) }),
  )) as [Copy]
  t.equal(textOf(other), '[%A%]')
})

t.test(
  'a personalization’s own subject goes into the template’s, and its Reply-To names are substituted',
  async (t) => {
    const legacy = await makeTemplate('legacy', { subject: 'Re: <%subject%>', plain: '<%body%>' })
    const dynamic = await makeTemplate('dynamic', { subject: 'Of the template', plain: 'x' })
    const two = personalized([{ subject: 'One -n-', substitutions: { '-n-': '1' } }, { subject: 'Two' }])
    const reply_to_list = [{ email: '-n-@quay.example', name: 'Desk -n-' }]
    const filled = await copies(await send({ template_id: legacy, reply_to_list, ...two }), 2)
    t.strictSame(
      filled.map(({ mail }) => [mail.subject, mail.replyTo?.value[0]]),
      [
        ['Re: One 1', { address: '1@quay.example', name: 'Desk 1' }],
        ['Re: Two', { address: '-n-@quay.example', name: 'Desk -n-' }],
      ],
    )
    const own = personalized([{ subject: 'One' }, { subject: 'Two' }])
    const same = await copies(await send({ ...BARE_ENVIRONMENT, template_id: dynamic, ...own }), 2)
    t.strictSame(
      same.map(({ mail }) => mail.subject),
      ['Of the template', 'Of the template'],
    )
  },
)

t.test('P20: substitutions apply to subject, content and Reply-To, with and without a legacy template', async (t) => {
  proves(t, 'substitutions', 'sections')
  const id = await makeTemplate('legacy', {
    subject: '<%subject%>!',
    html: '<div>%head%<%body%></div>',
    plain: 'Dear -name-: <%body%>',
  })
  const own = (name: string, extra: Fields = {}) => ({
    substitutions: { '-name-': name, '%head%': 'H', '-n': '?' },
    ...extra,
  })
  const call = {
    subject: 'Hello -name-',
    content: [
      { type: 'text/plain', value: 'Text for -name- and -NAME-, -missing-' },
      { type: 'text/html', value: '<p>-name-</p>' },
    ],
    reply_to: { email: '-name-@quay.example' },
    ...personalized([own('Ada'), own('Le-name-na'), {}]),
  }
  const all = await copies(await send({ ...call, template_id: id }), 3)
  t.strictSame(
    all.map(({ mail }) => [mail.subject, mail.html, mail.replyTo?.value[0]?.address]),
    [
      ['Hello Ada!', '<div>H<p>Ada</p></div>', 'Ada@quay.example'],
      ['Hello Le-name-na!', '<div>H<p>Le-name-na</p></div>', 'Le-name-na@quay.example'],
      ['Hello -name-!', '<div>%head%<p>-name-</p></div>', '-name-@quay.example'],
    ],
  )
  t.match(all[0]?.raw, /\r\nDear Ada: Text for Ada and -NAME-, -missing-\r\n/)
  const [plain] = await copies(await send({ ...call, ...personalized([own('Ada')]) }))
  t.match(plain?.mail, { subject: 'Hello Ada', html: '<p>Ada</p>' })
  const sections = { '[men]': 'Mr -name-', '[deep]': '[men] x' }
  const [named] = (await copies(
    await send({
      ...onlyText('-greet-!'),
      sections,
      ...personalized([own('Ada', { substitutions: { '-greet-': '[deep]', '-name-': 'Bo' } })]),
    }),
  )) as [Copy]
  t.equal(textOf(named), 'Mr Bo x!')
})

t.test('a legacy template without a message is sent as it is, and one kind of body drops the other part', async (t) => {
  const id = await makeTemplate('legacy', { subject: 'Own', html: '<b><%body%></b>', plain: '* <%body%> *' })
  const [bare] = await copies(await send({ ...BARE_ENVIRONMENT, template_id: id }))
  t.match(bare?.mail, { subject: 'Own', html: '<b></b>' })
  const [text] = (await copies(
    await send({ ...onlyText('Hi'), subject: 'Ignored', template_id: id.toUpperCase() }),
  )) as [Copy]
  t.match(text.mail, { subject: 'Own', html: false })
  t.equal(textOf(text), '* Hi *')
  const bomb = await makeTemplate('legacy', { subject: 's', plain: '<%body%>'.repeat(100_000) })
  t.equal((await send({ ...onlyText('x'.repeat(10_000)), template_id: bomb })).status, 413)
})

t.test('a substitution breaks out of no header, and Reply-To stays an address', async (t) => {
  const field = 'personalizations.1.substitutions'
  const withValue = (value: string, extra: Fields) =>
    send({ ...extra, ...personalized([{}, { substitutions: { '-x-': value } }]) })
  refusedV3(t, await withValue('a\r\nBcc: spy@quay.example', { subject: 'S -x-' }), [400, /CR, LF or NUL/, field])
  refusedV3(t, await withValue('x'.repeat(4200), { subject: 'S -x-' }), [400, /at most 4096/, field])
  refusedV3(t, await withValue('a b', { reply_to: { email: '-x-@quay.example' } }), [400, /Reply-To/, field])
  refusedV3(t, await withValue('a\u0000b', {}), [400, /NUL/, field])
  refusedV3(t, await withValue('\ud800', {}), [400, /Unicode/, field])
  t.equal((await withValue('a\r\nb', {})).status, 202, 'in content it is what it is')
})

t.test('unsubscribe tags are the recipient’s own links, of the mail’s group where it has one', async (t) => {
  proves(t, 'asm.group_id')
  const group = await core.groups.create(accountId, { name: 'News', description: 'd', isDefault: false })
  const html =
    '<a href="<%asm_group_unsubscribe_raw_url%>">g</a> <%asm_global_unsubscribe_url%> <%asm_preferences_raw_url%>'
  const content = [{ type: 'text/html', value: html }]
  const [copy] = await copies(await send({ content, asm: { group_id: group.id } }))
  const links = [...String(copy?.mail.html).matchAll(/http[^"\s]*\/t\/[up]\/([\w-]+)/g)].map(([url]) => url)
  t.equal(links.length, 3)
  const leave = (url: string | undefined) =>
    fetch(String(url), { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) })
  const left = async () =>
    (await core.suppressions.list(accountId, { limit: 10, offset: 0 })).suppressions.map((one) => one.group)
  t.strictSame(new Set(links).size, 3)
  t.ok(links.every((url) => url.startsWith(service.config.publicUrl)))
  const base = (url: string | undefined) =>
    String(url).replace(service.config.publicUrl, `http://127.0.0.1:${service.config.apiPort}`)
  t.match(await (await fetch(base(links[2]))).text(), /Email preferences.*News/s)
  t.equal((await leave(base(links[0]))).status, 200)
  t.strictSame(await left(), [group.id])
  t.equal((await leave(base(links[1]))).status, 200)
  t.strictSame((await left()).sort(), [0, group.id])
  for (const one of [0, group.id]) {
    await core.suppressions.removeAll({ accountId, emails: ['lena@harbor.example'], ...(one ? { group: one } : {}) })
  }

  const dynamic = await makeTemplate('dynamic', {
    subject: 's',
    html: '<a href="{{{unsubscribe}}}">x</a>',
    plain: '{{{unsubscribe}}}',
  })
  const [made] = await copies(await send({ ...BARE_ENVIRONMENT, template_id: dynamic, asm: { group_id: group.id } }))
  t.match(made?.mail.html, /^<a href="http[^"]*\/t\/u\/[\w-]+">x<\/a>$/)
})

t.test('the data of a person who is forgotten is gone', async (t) => {
  const id = await makeTemplate('dynamic', { subject: 's', plain: '{{secret}}' })
  const answer = await send({
    ...BARE_ENVIRONMENT,
    template_id: id,
    custom_args: { order: 'o-1' },
    ...toLena({ to: [{ email: 'tilda@harbor.example' }], dynamic_template_data: { secret: 'a secret of hers' } }),
  })
  await copies(answer)
  const kept = async () => {
    const rows = await sql<{ personal: unknown }[]>`
      select personal from finished_deliveries where message_id::text = ${uuidOf(messageIdOf(answer))}`
    return rows.map(({ personal }) => JSON.stringify(personal)).join()
  }
  await until('the outcome', async () => (await kept()).includes('a secret of hers'))
  await core.privacy.forget(accountId, ['tilda@harbor.example'])
  await until('forgotten', async () => !(await kept()).includes('secret'), 20_000)
  t.equal(await kept(), 'null')
})

function uuidOf(id: string): string {
  return id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
