import type { DomainWithRecords } from '@postrider/core'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import t from 'tap'
import { startDns } from '../helpers/dns.ts'
import { startSink } from '../helpers/sink.ts'
import { openWorker } from '../helpers/worker.ts'
import { startOutbox } from './outbox.ts'

const dns = await startDns(t, {})
const sink = await startSink(t, { extensions: ['PIPELINING', 'SIZE 30000000'] })
const outbox = await startOutbox(t, {
  DELIVERY: `smtp://127.0.0.1:${sink.port}`,
  DNS_SERVERS: dns.address,
  OPERATOR_DKIM_DOMAIN: 'operator.example',
})
const { domain, accountId } = outbox.sender
const { core } = outbox.service
const by = { keyId: null, address: null }
let worker = outbox.worker

function publish({ dns: records }: DomainWithRecords): void {
  for (const { type, host, value } of records) dns.zones[host] = type === 'TXT' ? { txt: [value] } : { cname: value }
}

/** Checks the records. A worker knows the keys of a domain for a minute: one that starts now knows those that sign now. */
async function check(name = domain): Promise<void> {
  await core.domains.verify(accountId, name, by)
  await worker.stop()
  worker = await openWorker(t, outbox.service)
}

/** As it was on the wire. */
async function delivered(id: string): Promise<string> {
  await outbox.inState(id, 'delivered')
  const found = sink.messages.find(({ data }) => data.includes(id))
  if (!found) throw new Error(`message ${id} did not arrive`)
  return found.data.toString('latin1')
}

/** What another's verifier says of each signature, in the order of the fields, by what the DNS has. */
async function verdicts(message: string): Promise<string[]> {
  const { results } = await dkimVerify(Buffer.from(message, 'latin1'), {
    resolver: async (name, type) => {
      const texts = type === 'TXT' ? dns.zones[name]?.txt : undefined
      if (!texts) throw Object.assign(new Error('no such record'), { code: 'ENOTFOUND' })
      return texts.map((text) => [text])
    },
  })
  return results.map(({ algo, signingDomain, status }) => `${status.result} ${algo} ${signingDomain}`)
}

/** The signatures of a message by their tags, in the order of the fields. */
function signaturesOf(message: string): Map<string, string>[] {
  return [...message.matchAll(/^DKIM-Signature: ((?:[^\r]|\r\n[ \t])*)\r\n/gim)].map(
    ([, value = '']) =>
      new Map(
        value
          .replace(/\s+/g, '')
          .split(';')
          .map((tag) => [tag.slice(0, tag.indexOf('=')), tag.slice(tag.indexOf('=') + 1)] as const),
      ),
  )
}

const RSA = `pass rsa-sha256 ${domain}`
const BOTH = [RSA, `pass ed25519-sha256 ${domain}`]

publish(await core.domains.show(domain))

t.test('no Ed25519 signature is made before the record was found, and both from then on', async (t) => {
  const waiting = await core.domains.setEd25519(accountId, { name: domain, ed25519: true }, by)
  t.strictSame(await verdicts(await delivered(await outbox.send('a@harbor.example'))), [RSA])
  await check()
  t.strictSame(await verdicts(await delivered(await outbox.send('a@harbor.example'))), [RSA])
  publish(waiting)
  await check()
  t.strictSame(await verdicts(await delivered(await outbox.send('a@harbor.example'))), BOTH)
})

t.test('both signatures have the same hash, times and fields, and keys of their own', async (t) => {
  const message = await delivered(await outbox.send('a@harbor.example'))
  const [rsa, ed25519] = signaturesOf(message)
  for (const tag of ['v', 'c', 'd', 't', 'x', 'bh', 'h']) t.equal(ed25519?.get(tag), rsa?.get(tag), tag)
  t.equal(rsa?.get('a'), 'rsa-sha256')
  t.equal(ed25519?.get('a'), 'ed25519-sha256')
  t.match([rsa?.get('s'), ed25519?.get('s')], [/^pr1-[a-z0-9]{6}$/, /^pr1-ed-[a-z0-9]{6}$/])
  t.equal(Buffer.from(ed25519?.get('b') ?? '', 'base64').length, 64)
  for (const line of message.slice(0, message.indexOf('\r\n\r\n')).split('\r\n')) t.ok(line.length <= 78, line)
})

const relay = await outbox.openRelay(t)
const head = `From: Desk <desk@${domain}>\r\nTo: a@harbor.example\r\nSubject: Berth 4\r\n`
const RELAYED: Readonly<Record<string, string>> = {
  'with odd folds and blanks': `From:\r\n\tDesk\r\n  <desk@${domain}>\r\nSUBJECT  :Berth \t 4\r\n \r\n\tand 5 \t\r\nTo:\ta@harbor.example  \r\n\r\none \t\r\n\r\n\r\n`,
  'without a body': `${head}\r\n`,
  'with UTF-8 that the server does not take': `${head.replace('Desk <', 'Fähre <')}Content-Type: text/plain; charset=utf-8\r\nMIME-Version: 1.0\r\n\r\nGrüße\r\n`,
  'with a signature of somebody else': `DKIM-Signature: v=1; a=ed25519-sha256; d=other.example; s=x; h=from; bh=; b=\r\n${head}\r\nx\r\n`,
  'that is large': `${head}\r\n${'large \r\n'.repeat(60_000)}`,
}
for (const [what, message] of Object.entries(RELAYED)) {
  t.test(`both signatures of a relayed message ${what} verify`, async (t) => {
    const found = await delivered(await relay.submit(`desk@${domain}`, 'a@harbor.example', message))
    t.strictSame((await verdicts(found)).slice(0, 2), BOTH)
    if (what.includes('UTF-8')) t.match(found, /^[\x00-\x7f]*$/)
  })
}

t.test('SIZE counts both signatures', async (t) => {
  const [commands, messages] = [sink.commands.length, sink.messages.length]
  await delivered(await outbox.send('a@harbor.example'))
  await delivered(await relay.submit(`desk@${domain}`, 'a@harbor.example', RELAYED['that is large'] ?? ''))
  const announced = sink.commands.slice(commands).flatMap((one) => /^MAIL .* SIZE=(\d+)/.exec(one)?.[1] ?? [])
  t.strictSame(
    announced.map(Number),
    sink.messages.slice(messages).map(({ data }) => data.length),
  )
  t.equal(announced.length, 2)
})

t.test('a field that is added breaks both signatures', async (t) => {
  const message = await delivered(await relay.submit(`desk@${domain}`, 'a@harbor.example', `${head}\r\nx\r\n`))
  for (const name of [
    'From',
    'To',
    'Cc',
    'Subject',
    'Date',
    'Reply-To',
    'Message-ID',
    'Content-Type',
    'List-Unsubscribe',
  ]) {
    const field = `${name}: evil@evil.test\r\n`
    for (const changed of [field + message, message.replace('\r\n\r\n', `\r\n${field}\r\n`)]) {
      for (const verdict of await verdicts(changed)) t.match(verdict, /^(fail|neutral)/, name)
    }
  }
})

t.test('mail of another domain of the account is signed with RSA alone', async (t) => {
  const name = 'plain.example'
  publish(await core.domains.add({ accountId, name, state: 'active' }))
  const id = await outbox.send('a@harbor.example', { from: { fromEmail: `desk@${name}` } })
  t.strictSame(await verdicts(await delivered(id)), [`pass rsa-sha256 ${name}`])
})

t.test('both keys are rotated without mail that is unsigned or badly signed', async (t) => {
  const selectors = async (): Promise<(string | undefined)[]> => {
    const message = await delivered(await outbox.send('a@harbor.example'))
    t.strictSame(await verdicts(message), BOTH)
    return signaturesOf(message).map((one) => one.get('s')?.replace(/-[a-z0-9]{6}$/, ''))
  }
  publish(await core.domains.rotateDkim(accountId, domain, by))
  t.strictSame(await selectors(), ['pr1', 'pr1-ed'])
  await check()
  t.strictSame(await selectors(), ['pr2', 'pr2-ed'])
})

t.test('turned off, mail is signed with RSA alone', async (t) => {
  await core.domains.setEd25519(accountId, { name: domain, ed25519: false }, by)
  await check()
  t.strictSame(await verdicts(await delivered(await outbox.send('a@harbor.example'))), [RSA])
})

t.test("the operator's domain signs with both of its keys, too", async (t) => {
  const name = 'operator.example'
  publish(await core.domains.add({ accountId, name, state: 'active', ed25519: true }))
  await check(name)
  const expected = [`pass rsa-sha256 ${name}`, `pass ed25519-sha256 ${name}`, RSA]
  t.strictSame(await verdicts(await delivered(await outbox.send('a@harbor.example'))), expected)
  const own = await outbox.send('a@harbor.example', { from: { fromEmail: `desk@${name}` } })
  t.strictSame(await verdicts(await delivered(own)), expected.slice(0, 2))
})
