import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { mail, openSession, shown } from './session.ts'

const service = await makeService(t)
await service.openRelay()
const sender = await service.makeSender()
const desk = `desk@${sender.domain}`
const LENA = 'RCPT TO:<lena@harbor.example>'

/** What is no path (RFC 5321 4.1.2), and so is answered 501. */
const MALFORMED = [
  'lena@harbor.example',
  '<lena@harbor.example',
  'lena@harbor.example>',
  '<Lena>',
  '<@harbor.example>',
  '<lena@>',
  '<lena@@harbor.example>',
  '<lena@harbor..example>',
  '<.lena@harbor.example>',
  '<lena.@harbor.example>',
  '<le..na@harbor.example>',
  '<lena@-harbor.example>',
  '<lena@harbor_.example>',
  '<lena@[192.0.2.1]>',
  '<lena smith@harbor.example>',
  '<"lena@harbor.example>',
  '<lena@harbor.example>x',
  '<lena@harbor.example><ann@harbor.example>',
  '<lena@harbor.example,ann@harbor.example>',
  '<Lena <lena@harbor.example>>',
  '<lena@harbor.example(comment)>',
  '<lena@1.2.3.4>',
  `<${'a'.repeat(65)}@harbor.example>`,
  `<lena@${'a'.repeat(64)}.example>`,
  `<lena@${'abcdefghi.'.repeat(25)}example>`,
  '<lena@xn--a.example>',
]

t.test('malformed addresses get 501, at MAIL and at RCPT, and the session goes on', async (t) => {
  const client = await openSession(t, service, sender)
  for (const path of MALFORMED) {
    t.match(await client.command(`MAIL FROM:${path} SMTPUTF8`), /^501 5\.1\.7 /, path)
  }
  t.match(await client.command(`MAIL FROM:<${desk}> SMTPUTF8`), /^250 /)
  for (const path of [...MALFORMED, '<>']) t.match(await client.command(`RCPT TO:${path}`), /^501 5\.1\.3 /, path)
  t.match(await client.command('RCPT FROM:<lena@harbor.example>'), /^501 /)
  t.match(await client.command('RCPT'), /^501 /)
  t.match(await client.command(LENA), /^250 /)
})

/** Spellings that are fine. */
const WELL_FORMED: readonly [path: string, recipient: string][] = [
  ['<lena@harbor.example>', 'lena@harbor.example'],
  [' <lena@harbor.example>', 'lena@harbor.example'],
  ['<Lena@HARBOR.Example>', 'Lena@harbor.example'],
  ['<@a.example,@b.example:lena@harbor.example>', 'lena@harbor.example'],
  ['<"lena smith"@harbor.example>', '"lena smith"@harbor.example'],
  ['<"a>b"@harbor.example>', '"a>b"@harbor.example'],
  ['<"lena"@harbor.example>', 'lena@harbor.example'],
  ['<lena+berth/4=x@harbor.example>', 'lena+berth/4=x@harbor.example'],
  [`<${'a'.repeat(64)}@harbor.example>`, `${'a'.repeat(64)}@harbor.example`],
  ['<lena@xn--hfen-5qa.example>', 'lena@xn--hfen-5qa.example'],
]

for (const [path, recipient] of WELL_FORMED) {
  t.test(`RCPT TO:${path} goes to ${recipient}`, async (t) => {
    const client = await openSession(t, service, sender)
    await client.command(`MAIL FROM:<${desk}>`)
    t.match(await client.command(`rcpt to:${path}`), /^250 2\.1\.5 /)
    await client.command('DATA')
    const { deliveries } = await shown(service, await client.finish(mail(sender)))
    t.equal(deliveries[0]?.recipient, recipient)
  })
}

const CORPUS = new URL('../../../shared/corpora/addresses.json', import.meta.url)

t.test(
  'RCPT accepts every valid address of the corpus and refuses every wrong one',
  {
    skip: existsSync(CORPUS) ? false : 'the corpora are not here',
  },
  async (t) => {
    const entries = JSON.parse(readFileSync(CORPUS, 'utf8')) as {
      address: string
      category: string
      diagnosis: string
    }[]
    const client = await openSession(t, service, sender)
    await client.command(`MAIL FROM:<${desk}> SMTPUTF8`)
    for (const { address, category, diagnosis } of entries) {
      // What has no domain gets one (open-relay.test.ts).
      if (/[\r\n]/.test(address) || diagnosis === 'ISEMAIL_ERR_NODOMAIN') continue
      const reply = await client.command(`RCPT TO:<${address}>`)
      if (category === 'ISEMAIL_VALID_CATEGORY') t.match(reply, /^250 /, `${address}: ${diagnosis}`)
      if (category === 'ISEMAIL_ERR') t.match(reply, /^501 /, `${address}: ${diagnosis}`)
    }
  },
)

t.test('a non-ASCII address needs SMTPUTF8 on MAIL, or gets 553 5.6.7', async (t) => {
  const client = await openSession(t, service, sender)
  t.match(await client.command(`MAIL FROM:<zoë@${sender.domain}>`), /^553 5\.6\.7 /)
  t.match(await client.command(`MAIL FROM:<${desk}>`), /^250 /)
  t.match(await client.command('RCPT TO:<zoë@harbor.example>'), /^553 5\.6\.7 /)
  t.match(await client.command('RCPT TO:<lena@häfen.example>'), /^553 5\.6\.7 /)
  await client.command('RSET')
  t.match(await client.command(`MAIL FROM:<zoë@unknown.example> SMTPUTF8`), /^550 /)
  t.match(await client.command(`MAIL FROM:<${desk}>`), /^250 /)
  t.match(await client.command('RCPT TO:<zoë@harbor.example>'), /^553 5\.6\.7 /, 'SMTPUTF8 of a refused MAIL is over')
  await client.command('RSET')
  t.match(await client.command(`MAIL FROM:<zoë@${sender.domain}> SMTPUTF8`), /^250 /)
  t.match(await client.command('RCPT TO:<zoë@harbor.example>'), /^250 /)
  t.match(await client.command('RCPT TO:<lena@häfen.example>'), /^250 /)
  await client.command('DATA')
  const { deliveries } = await shown(service, await client.finish(mail(sender)))
  t.strictSame(
    deliveries.map(({ recipient }) => recipient),
    ['zoë@harbor.example', 'lena@xn--hfen-loa.example'],
  )
})

t.test('octets that are not UTF-8 are not an address', async (t) => {
  const client = await openSession(t, service, sender)
  t.match(await client.command(Buffer.from(`MAIL FROM:<de\xffsk@${sender.domain}> SMTPUTF8`, 'latin1')), /^501 /)
  t.match(await client.command(`MAIL FROM:<${desk}> SMTPUTF8`), /^250 /)
  for (const octets of ['\xff', '\xc3', '\xa0', '\xed\xa0\x80', '\xc0\xaf', '\xf8\x88\x80\x80\x80']) {
    const reply = await client.command(Buffer.from(`RCPT TO:<le${octets}na@harbor.example>`, 'latin1'))
    t.match(reply, /^501 5\.1\.3 /, Buffer.from(octets, 'latin1').toString('hex'))
  }
})
