import t, { type Test } from 'tap'
import { answered, postrider } from '../../cli/postrider.ts'
import { putInFlight, startOutbox } from '../../delivery/outbox.ts'
import { bounceReport, complaintReport } from '../../delivery/reports.ts'
import { erase } from '../../helpers/erase.ts'
import { startSink } from '../../helpers/sink.ts'
import { SmtpClient } from '../../helpers/smtp-client.ts'
import { until } from '../../helpers/until.ts'

const received: { readonly to: string; readonly from: string; readonly text: string }[] = []
const sink = await startSink(t, {
  dot: ({ message: { data, to, from } }) => {
    received.push({ to: to[0] ?? '', from: from ?? '', text: String(data) })
    return undefined
  },
})
const outbox = await startOutbox(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}`, RETURN_PATH_HOST: 'bounces.test' })
const { service, sender } = outbox
const { core, config, sql } = service
await service.openReturns()
let names = 0

async function makeDelivered() {
  const to = `lena${++names}@harbor.example`
  const id = await outbox.send(to)
  await outbox.inState(id, 'delivered')
  const copy = received.find((one) => one.to === to)
  return { to, id, path: copy?.from ?? '', text: copy?.text ?? '' }
}

async function openSession(t: Test): Promise<SmtpClient> {
  const client = await SmtpClient.connect(t, { port: config.returnsPort })
  t.match(await client.reply(), /^220 /)
  t.match(await client.command('EHLO mx.harbor.example'), /^250-/)
  return client
}

async function mail(t: Test, to: string, message: string | Buffer, from = ''): Promise<string> {
  return (await openSession(t)).submit(from, to, message)
}

const lastEvent = async (id: string) => (await outbox.story(id)).events.at(-1)
const reasonsOf = async (address: string) =>
  (await core.suppressions.holding(sender.accountId, address)).map(({ reason }) => reason)
const stored = async (id: string) => (await core.returns.list({ limit: 100 })).filter((one) => one.messageId === id)

t.test('a bounce that is mailed to the return path has its effect when 250 arrives', async (t) => {
  const { to, id, path } = await makeDelivered()
  t.match(path, /@bounces\.test$/)
  t.match(await mail(t, path, bounceReport(path)), /^250 2\.0\.0 /)
  t.match(await lastEvent(id), { type: 'bounced', detail: { late: true, class: 'bad-mailbox' } })
  t.strictSame(await reasonsOf(to), ['hardbounce'])
  t.match(await stored(id), [
    { kind: 'bounce', effect: 'bounced', class: 'bad-mailbox', reporter: 'mx.harbor.example', isKept: false },
  ])
  t.match(await mail(t, path, bounceReport(path)), /^250 /, 'a server that lost the reply sends it again')
  t.equal((await outbox.story(id)).events.filter(({ type }) => type === 'bounced').length, 1)
})

t.test('a complaint mailed to fbl@ finds its delivery by X-PR-Ref alone, which DKIM covers', async (t) => {
  const { to, id, text } = await makeDelivered()
  const field = /^X-PR-Ref: (c-[a-z2-7]{50})\r\n/m.exec(text)
  t.match(/^DKIM-Signature: (?:.|\r\n )*/m.exec(text)?.[0].replace(/\s/g, ''), /h=[^;]*:x-pr-ref[:;]/)
  t.match(await mail(t, 'fbl@bounces.test', complaintReport(field?.[0] ?? '')), /^250 /)
  t.match(await lastEvent(id), { type: 'complained' })
  t.strictSame(await reasonsOf(to), ['abuse'])
  t.match((await stored(id))[0], { kind: 'complaint', effect: 'complained', role: 'fbl' })
})

t.test('complaints are counted once per delivery, at the domain that reported it first', async (t) => {
  const { text } = await makeDelivered()
  const report = complaintReport(/^X-PR-Ref: .*\r\n/m.exec(text)?.[0] ?? '').replace('arf.harbor', 'first.harbor')
  t.match(await mail(t, 'fbl@bounces.test', report), /^250 /)
  t.match(await mail(t, 'fbl@bounces.test', report), /^250 /)
  t.match(await mail(t, 'fbl@bounces.test', report.replace('first.harbor', 'second.harbor')), /^250 /)
  const reporters = await core.returns.feedback()
  t.match(
    reporters.filter(({ reporter }) => /^(first|second)\.harbor/.test(reporter)),
    [{ reporter: 'first.harbor.example', complaints: 1, unmatched: 0 }],
  )
})

t.test('only signed return paths and the addresses of the operator are accepted as recipients', async (t) => {
  const { path, text } = await makeDelivered()
  const reference = /^X-PR-Ref: (\S+)/m.exec(text)?.[1]
  const client = await openSession(t)
  const accepted = [path, path.toUpperCase(), path.replace('@bounces.test', '@pr-bounces.ship.example')]
  const roles = ['fbl', 'abuse', 'postmaster', 'Abuse'].map((role) => `${role}@bounces.test`)
  for (const to of [...accepted, ...roles, 'postmaster@relay.test', 'postmaster']) {
    await client.command('MAIL FROM:<>')
    t.match(await client.command(`RCPT TO:<${to}>`), /^250 /, to)
    await client.command('RSET')
  }
  const other = await openSession(t)
  await other.command('MAIL FROM:<>')
  const refused = [
    `${path[2] === 'a' ? 'b-b' : 'b-a'}${path.slice(3)}`,
    'lena@bounces.test',
    'abuse@ship.example',
    'fbl@bounces.test.example',
    // Everybody who is shown the message knows it.
    `${reference}@bounces.test`,
  ]
  for (const to of [...refused, `b-${'a'.repeat(50)}@bounces.test`, 'b-@bounces.test'])
    t.match(await other.command(`RCPT TO:<${to}>`), /^550 5\.1\.1 /, to)
  t.match(await other.command('AUTH PLAIN AGEAYg=='), /^50\d /)
  t.match(await other.command('DATA'), /^503 /)
  t.match(
    await other.command('RCPT TO:<abuse@old.test>'),
    /^550 5\.1\.1 Mail to the operator is not taken at this host/,
  )
})

t.test('a letter to the operator is kept whole; one without end is kept in part', async (t) => {
  const letter = 'From: Mina <mina@quay.example>\r\nSubject: Your mail\r\n\r\nPlease call me.\r\n'
  t.match(await mail(t, 'abuse@bounces.test', letter, 'mina@quay.example'), /^250 /)
  const [newest] = await core.returns.list({ kind: 'letter', limit: 1 })
  t.match(newest, {
    kind: 'letter',
    effect: 'none',
    why: 'letter',
    role: 'abuse',
    messageId: null,
    reporter: 'quay.example',
  })
  t.equal(String((await core.returns.show(newest?.id ?? ''))?.content), letter)
  const long = `${letter}${'berth 4\r\n'.repeat(100_000)}`
  t.match(await mail(t, 'postmaster', long), /^250 /)
  const [second] = await core.returns.list({ kind: 'letter', limit: 1 })
  t.match(second, { size: long.length, isKept: true })
  t.equal((await core.returns.show(second?.id ?? ''))?.content?.length, 256 * 1024)
})

t.test('of a large report, the beginning is read', async (t) => {
  const { id, path } = await makeDelivered()
  const report = bounceReport(path)
  const end = report.lastIndexOf('--b--')
  const large = `${report.slice(0, end)}${'Subject: berth 4\r\n'.repeat(200_000)}${report.slice(end)}`
  t.match(await mail(t, path, large), /^250 /)
  t.match(await lastEvent(id), { type: 'bounced', detail: { class: 'bad-mailbox' } })
})

t.test('an opt-out has its effect once, and does not undo a later consent', async (t) => {
  const { to, id, path } = await makeDelivered()
  const report = complaintReport(`Return-Path: <${path}>\r\n`, { type: 'opt-out' })
  t.match(await mail(t, path, report), /^250 /)
  t.strictSame(await reasonsOf(to), ['unsubscribe'])
  await core.suppressions.removeAll({ accountId: sender.accountId, emails: [to] })
  for (let count = 0; count < 7; count++) t.match(await mail(t, path, report), /^250 /)
  t.strictSame(await reasonsOf(to), [])
  t.equal((await stored(id)).filter(({ effect }) => effect === 'unsubscribed').length, 1)
  t.equal((await stored(id)).filter(({ why }) => why === 'repeated').length, 5)
})

t.test('what cannot be read is kept until its recipient is erased', async (t) => {
  const { to, id, path } = await makeDelivered()
  t.match(await mail(t, path, `To: ${path}\r\nSubject: Hm\r\n\r\nSomething about ${to}.\r\n`), /^250 /)
  const [row] = await stored(id)
  t.match(row, { kind: 'unrecognised', isKept: true })
  await erase(core, sender.accountId, [to])
  t.match(await stored(id), [{ isKept: false, reporter: '' }])
  const late = `From: ${to}\r\nTo: ${path}\r\nSubject: Hm\r\n\r\nSomething about ${to}.\r\n`
  t.match(await mail(t, path, late), /^250 /)
  const erased = { isKept: false, reporter: '' }
  t.match(await stored(id), [{ ...erased, why: 'unrecognised' }, erased], 'nor is anything of a later one kept')
})

t.test('what was kept has its effect once it can be read', async (t) => {
  const { to, id, path } = await makeDelivered()
  t.match(await mail(t, path, 'Subject: Hm\r\n\r\nNothing to see.\r\n'), /^250 /)
  const since = new Date(0)
  t.match(await core.returns.reread({ kinds: ['unrecognised'], since }), { recognised: 0, effects: 0 })
  const { deflateSync } = await import('node:zlib')
  await sql`update returns set content = ${deflateSync(Buffer.from(bounceReport(path)))} where message_id = ${id}::uuid`
  t.match(await core.returns.reread({ kinds: ['unrecognised'], since }), { recognised: 1, effects: 1 })
  t.match(await lastEvent(id), { type: 'bounced' })
  t.strictSame(await reasonsOf(to), ['hardbounce'])
  const [read] = await stored(id)
  t.match(read, { kind: 'bounce', effect: 'bounced', isKept: false })
  t.match(await core.suppressions.holding(sender.accountId, to), [{ cause: { returnId: read?.id } }])
  t.match(await core.returns.reread({ kinds: ['unrecognised'], since }), { recognised: 0 })
})

t.test('a complaint has its effect once its delivery can be found', async (t) => {
  const { to, id, text } = await makeDelivered()
  t.match(await mail(t, 'fbl@bounces.test', complaintReport('')), /^250 /)
  const [row] = await core.returns.list({ kind: 'complaint', limit: 1 })
  t.match(row, { why: 'unsigned', isKept: true, messageId: null })
  const since = new Date(0)
  t.match(await core.returns.reread({ kinds: ['complaint'], since }), { recognised: 0 })
  const { deflateSync } = await import('node:zlib')
  const found = deflateSync(Buffer.from(complaintReport(/^X-PR-Ref: .*\r\n/m.exec(text)?.[0] ?? '')))
  await sql`update returns set content = ${found} where id = ${row?.id ?? ''}::uuid`
  const both = await Promise.all([1, 2].map(() => core.returns.reread({ kinds: ['complaint'], since })))
  t.equal(both[0] && both[1] && both[0].effects + both[1].effects, 1, 'once, however many read it again')
  t.strictSame(await reasonsOf(to), ['abuse'])
  t.match(await stored(id), [{ effect: 'complained', isKept: false }])
})

t.test('a refusal of our return path stays one when it is read again', async (t) => {
  const { to, id, path } = await makeDelivered()
  t.match(await mail(t, path, 'Subject: Hm\r\n\r\nNothing to see.\r\n'), /^250 /)
  const { deflateSync } = await import('node:zlib')
  const refused = { status: '5.1.1', diagnostic: `550 5.1.1 <${path}>: User unknown` }
  const report = deflateSync(Buffer.from(bounceReport('postmaster@ship.example', [refused])))
  await sql`update returns set content = ${report} where message_id = ${id}::uuid`
  t.match(await core.returns.reread({ kinds: ['unrecognised'], since: new Date(0) }), { effects: 1 })
  t.match(await lastEvent(id), { type: 'bounced', detail: { class: 'policy' } })
  t.strictSame(await reasonsOf(to), [])
})

t.test('of reports without an effect five are stored for a delivery, and one with an effect after them', async (t) => {
  const { id, path } = await makeDelivered()
  const away = `To: ${path}\r\nAuto-Submitted: auto-replied\r\nSubject: Away\r\n\r\nI am away.\r\n`
  for (let count = 0; count < 7; count++) t.match(await mail(t, path, away), /^250 /)
  t.equal((await stored(id)).length, 5)
  t.match(await mail(t, path, bounceReport(path)), /^250 /)
  t.match((await stored(id))[0], { kind: 'bounce', effect: 'bounced' })
})

t.test('a second recipient is refused for now, so that each report has one result', async (t) => {
  const [one, two] = [await makeDelivered(), await makeDelivered()]
  const client = await openSession(t)
  await client.command('MAIL FROM:<>')
  t.match(await client.command(`RCPT TO:<${one.path}>`), /^250 /)
  t.match(await client.command(`RCPT TO:<${two.path}>`), /^452 /)
  t.match(await client.command('DATA'), /^354 /)
  t.match(await client.finish(bounceReport(one.path)), /^250 /)
  t.match(await lastEvent(one.id), { type: 'bounced' })
  t.equal((await lastEvent(two.id))?.type, 'sent')
})

t.test('a report while the attempt is in progress is refused for now, and nothing of it is stored', async (t) => {
  const { id, path } = await makeDelivered()
  await putInFlight(service, id)
  t.match(await mail(t, path, bounceReport(path)), /^451 4\.3\.0 an attempt is in progress/)
  t.strictSame(await stored(id), [])
  await sql`delete from delivery_queue where message_id = ${id}::uuid`
})

t.test('NUL, bare line feeds, 8-bit headers and half a report are taken', async (t) => {
  for (const change of [
    (report: string) => report.replace('Your message', 'Your\0message'),
    (report: string) => report.replace('Your message', 'Your\nmessage'),
    (report: string) => report.replace('Undelivered', 'Unzustellbar f\xfcr'),
    (report: string) => report.slice(0, report.indexOf('Diagnostic-Code')),
  ]) {
    const { id, path } = await makeDelivered()
    t.match(await mail(t, path, Buffer.from(change(bounceReport(path)), 'latin1')), /^250 /)
    t.match(await lastEvent(id), { type: 'bounced', detail: { class: 'bad-mailbox' } })
  }
  const { path } = await makeDelivered()
  t.match(await mail(t, path, '\0\r\n'), /^250 /)
})

t.test('sizes and counts are bounded', async (t) => {
  const { path } = await makeDelivered()
  const large = await openSession(t)
  t.match(await large.command(`MAIL FROM:<> SIZE=${10 * 1024 * 1024 + 1}`), /^552 /)
  t.match(await mail(t, path, Buffer.alloc(10 * 1024 * 1024 + 1, 'berth 4\r\n')), /^552 /)
  const many = await openSession(t)
  await many.command('MAIL FROM:<>')
  for (let count = 0; count < 20; count++) t.match(await many.command('RCPT TO:<lena@bounces.test>'), /^550 /)
  const began = performance.now()
  t.match(await many.command('RCPT TO:<lena@bounces.test>'), /^550 /)
  t.ok(performance.now() - began > 900, 'from then on a second late')
  const busy = await openSession(t)
  for (let count = 0; count < 50; count++) {
    t.match(await busy.command('MAIL FROM:<>'), /^250 /)
    await busy.command('RSET')
  }
  t.match(await busy.command('MAIL FROM:<>'), /^421 4\.7\.0 /)
})

t.test('one network has at most twenty connections, and others still connect', async (t) => {
  const clients: SmtpClient[] = []
  let reply = ''
  for (let count = 0; count < 21 && !reply.startsWith('421'); count++) {
    const client = await SmtpClient.connect(t, { port: config.returnsPort, from: '127.0.0.2' })
    reply = await client.reply()
    clients.push(client)
  }
  t.equal(clients.length, 21)
  t.match(reply, /^421 4\.7\.0 Too many connections/)
  await openSession(t)
  clients[0]?.destroy()
  await until('a connection to be counted as closed', async () => {
    const client = await SmtpClient.connect(t, { port: config.returnsPort, from: '127.0.0.2' })
    return (await client.reply()).startsWith('220')
  })
})

t.test('the /16 of IPv4 addresses has at most a hundred connections, and others still connect', async (t) => {
  const connectFrom = async (from: string) => {
    const client = await SmtpClient.connect(t, { port: config.returnsPort, from })
    return { client, reply: await client.reply() }
  }
  const sessions: { client: SmtpClient; reply: string }[] = []
  for (let at = 0; at < 100; at++) sessions.push(await connectFrom(`127.7.${at % 7}.${at % 50}`))
  t.ok(sessions.every(({ reply }) => reply.startsWith('220 ')))
  t.match((await connectFrom('127.7.200.1')).reply, /^421 4\.7\.0 Too many connections from your network/)
  t.match((await connectFrom('127.8.200.1')).reply, /^220 /)
  sessions[0]?.client.destroy()
  await until('a connection to be counted as closed', async () =>
    (await connectFrom('127.7.200.1')).reply.startsWith('220'),
  )
})

t.test('what came back for one message is listed, and shown with the message', async (t) => {
  const [one, other] = [await makeDelivered(), await makeDelivered()]
  for (const { path } of [one, other]) t.match(await mail(t, path, bounceReport(path)), /^250 /)
  t.match(await mail(t, one.path, bounceReport(one.path)), /^250 /)
  const listed = await answered<{ id: string }[]>(service.env, 'returns', 'list', '--message', one.id)
  t.match(listed, [
    { messageId: one.id, why: 'repeated' },
    { messageId: one.id, effect: 'bounced' },
  ])
  t.equal(listed.length, 2)
  t.match(await answered(service.env, 'message', 'show', one.id), { id: one.id, returns: listed })
  const { stdout } = await postrider(service.env, 'message', 'show', one.id)
  t.match(stdout, new RegExp(` 0 +return: bounce +${listed[1]?.id} a bounce was recorded$`, 'm'))
  t.match(stdout, new RegExp(` 0 +return: bounce +${listed[0]?.id} no effect: reported before$`, 'm'))
  t.notMatch(stdout, new RegExp((await stored(other.id))[0]?.id ?? 'none'))
})

t.test('what came back is deleted after RETURN_DAYS', async (t) => {
  const { id, path } = await makeDelivered()
  t.match(await mail(t, path, bounceReport(path)), /^250 /)
  await sql`update returns set received_at = received_at - interval '29 days' where message_id = ${id}::uuid`
  // It makes partitions, which other processes may have in use: then it is tried again in a minute.
  await until('a clean-up', () =>
    core.cleanUp().then(
      () => true,
      () => false,
    ),
  )
  t.equal((await stored(id)).length, 1)
  await sql`update returns set received_at = received_at - interval '2 days' where message_id = ${id}::uuid`
  await core.cleanUp()
  t.equal((await stored(id)).length, 0)
})

t.test('Feedback-ID names tag, class and account, unless the message has its own', async (t) => {
  const fieldOf = (text: string) => /^Feedback-ID: (.*)\r$/m.exec(text)?.[1]
  const made = async (extra: Record<string, unknown>, ofRecipient: Record<string, unknown> = {}) => {
    const to = `lena${++names}@harbor.example`
    const personalizations = [{ recipient: to, ...ofRecipient }]
    await outbox.inState(await outbox.send(to, { ...extra, personalizations }), 'delivered')
    return fieldOf(received.find((one) => one.to === to)?.text ?? '')
  }
  const { accountId } = sender
  t.equal(await made({}), `untagged:normal:a${accountId}:${core.deliveries.feedbackSender}`)
  t.match(core.deliveries.feedbackSender, /^pr[0-9a-f]{8}$/)
  const tagged = await made({ tags: ['receipts', 'x'], settings: { class: 'bulk' } })
  t.match(tagged, new RegExp(`^t[0-9a-f]{12}:bulk:a${accountId}:pr`))
  t.equal(tagged, await made({ tags: ['receipts'], settings: { class: 'bulk' } }), 'the same for the same tag')
  t.equal(await made({}, { 'x-headers': { 'Feedback-ID': 'a:b:c:ship1' } }), 'a:b:c:ship1')
})

t.test('a rejection of our return path does not count against the recipient, whatever To names', async (t) => {
  const { to, id, path } = await makeDelivered()
  const refused = { status: '5.1.1', diagnostic: `550 5.1.1 <${path}>: User unknown` }
  t.match(await mail(t, path, bounceReport('postmaster@ship.example', [refused])), /^250 /)
  t.match(await lastEvent(id), { type: 'bounced', detail: { class: 'policy' } })
  t.strictSame(await reasonsOf(to), [])
})
