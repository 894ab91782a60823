import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Address, parseAddress } from '@postrider/core'
import t, { type Test } from 'tap'
import { ownCpu } from '../../helpers/turns.ts'

const CORPUS = fileURLToPath(new URL('../../../../shared/corpora/addresses.json', import.meta.url))
const skip = existsSync(CORPUS) ? {} : { skip: 'the corpora are not here' }

/** Spellings of one address: what is written, what it means. */
const CANONICAL: readonly (readonly [written: string, text: string, key?: string])[] = [
  ['lena@harbor.example', 'lena@harbor.example'],
  ['  lena@harbor.example\t', 'lena@harbor.example'],
  // The local part is the receiver's business, so its case stays; the key folds it.
  ['Lena@Harbor.EXAMPLE', 'Lena@harbor.example', 'lena@harbor.example'],
  ['"lena"@harbor.example', 'lena@harbor.example'],
  ['"l\\e\\na"@harbor.example', 'lena@harbor.example'],
  ['"le.na"@harbor.example', 'le.na@harbor.example'],
  ['"le na"@harbor.example', '"le na"@harbor.example'],
  ['"le\\ na"@harbor.example', '"le na"@harbor.example'],
  ['"le..na"@harbor.example', '"le..na"@harbor.example'],
  ['"a\\"b"@harbor.example', '"a\\"b"@harbor.example'],
  ['"a\\\\b"@harbor.example', '"a\\\\b"@harbor.example'],
  ['"a@b"@harbor.example', '"a@b"@harbor.example'],
  ["!#$%&'*+/=?^_`{|}~-@harbor.example", "!#$%&'*+/=?^_`{|}~-@harbor.example"],
  ['lena+berth-4@harbor.example', 'lena+berth-4@harbor.example'],
  // RFC 6531: the local part in NFC; the domain in A-labels (RFC 5891).
  ['le\u0301na@harbor.example', 'l\u00e9na@harbor.example'],
  ['lena@hafen.m\u00fcnchen.example', 'lena@hafen.xn--mnchen-3ya.example'],
  ['lena@HAFEN.M\u00dcNCHEN.example', 'lena@hafen.xn--mnchen-3ya.example'],
  ['lena@hafen.mu\u0308nchen.example', 'lena@hafen.xn--mnchen-3ya.example'],
  ['lena@hafen.xn--mnchen-3ya.example', 'lena@hafen.xn--mnchen-3ya.example'],
  // UTS 46 maps the ideographic full stop and full-width letters; what counts is what they are mapped to.
  ['lena@harbor\u3002example', 'lena@harbor.example'],
  ['lena@\uff48arbor.example', 'lena@harbor.example'],
  [`${'l'.repeat(64)}@harbor.example`, `${'l'.repeat(64)}@harbor.example`],
]

/** What looks like an address to one reader and like another one to the next (V22). */
const CONFUSIONS: readonly (readonly [name: string, address: string])[] = [
  ['two at signs', 'lena@harbor.example@evil.example'],
  ['an at sign in an unquoted local part', 'lena@evil.example>@harbor.example'],
  ['a display name', 'Lena <lena@harbor.example>'],
  ['angle brackets', '<lena@harbor.example>'],
  ['a second address', 'lena@harbor.example, mina@evil.example'],
  ['a second address after a semicolon', 'lena@harbor.example;mina@evil.example'],
  ['a group', 'crew:lena@harbor.example;'],
  ['a source route', '@evil.example:lena@harbor.example'],
  ['a bang path', 'evil.example!lena@'],
  ['a comment before the local part', '(mina@evil.example)lena@harbor.example'],
  ['a comment after the local part', 'lena(mina@evil.example)@harbor.example'],
  ['a comment after the domain', 'lena@harbor.example(evil.example)'],
  ['a quoted string with more behind it', '"lena"mina@harbor.example'],
  ['a quoted string that never ends', '"lena@harbor.example'],
  ['a quoted string that ends too early', '"lena"@evil.example"@harbor.example'],
  ['a quoted empty local part', '""@harbor.example'],
  ['a line break in a quoted string', '"lena\r\nRCPT TO:<mina@evil.example>"@harbor.example'],
  ['a bare LF', 'lena\n@harbor.example'],
  ['CRLF behind the domain', 'lena@harbor.example\r\n'],
  ['NUL', 'lena\0@harbor.example'],
  ['NUL in the domain', 'lena@harbor\0.example'],
  ['DEL', 'lena\x7f@harbor.example'],
  ['a space', 'le na@harbor.example'],
  ['a no-break space', 'le\u00a0na@harbor.example'],
  ['a line separator', 'le\u2028na@harbor.example'],
  ['NEL', 'le\u0085na@harbor.example'],
  ['a zero-width space', 'le\u200bna@harbor.example'],
  ['a right-to-left override', 'le\u202ena@harbor.example'],
  ['a soft hyphen in the local part', 'le\u00adna@harbor.example'],
  ['a soft hyphen in the domain', 'lena@har\u00adbor.example'],
  ['a zero-width joiner in the domain', 'lena@har\u200dbor.example'],
  ['a full-width at sign in the domain', 'lena@evil.example\uff20harbor.example'],
  ['a full-width slash in the domain', 'lena@evil.example\uff0fharbor.example'],
  ['a full-width colon in the domain', 'lena@evil.example\uff1a25'],
  ['a percent-encoded dot in the domain', 'lena@harbor%2eexample'],
  ['a port', 'lena@harbor.example:25'],
  ['a path', 'lena@harbor.example/evil.example'],
  ['an address literal', 'lena@[127.0.0.1]'],
  ['an IPv6 literal', 'lena@[IPv6:::1]'],
  ['an address without brackets', 'lena@127.0.0.1'],
  ['a decimal address', 'lena@2130706433'],
  ['a hexadecimal address', 'lena@127.1'],
  ['a full-width address', 'lena@\uff11\uff12\uff17.0.0.1'],
  ['an A-label that encodes nothing', 'lena@xn--a.example'],
  ['an A-label that encodes ASCII', 'lena@xn--harbor-.example'],
  ['an A-label that encodes a decomposed name', 'lena@xn--u-ccb.example'],
  ['a domain that ends with a dot', 'lena@harbor.example.'],
  ['an empty label', 'lena@harbor..example'],
  ['a label that begins with a hyphen', 'lena@-harbor.example'],
  ['an underscore in the domain', 'lena@har_bor.example'],
  ['an encoded word', '=?utf-8?q?lena=40evil.example?=@'],
  ['a local part of 65 octets', `${'l'.repeat(65)}@harbor.example`],
  ['a label of 64 octets', `lena@${'h'.repeat(64)}.example`],
  ['a domain of 254 octets', `l@${'harbor.'.repeat(36)}ex`],
  ['a path of 257 octets', `${'l'.repeat(64)}@${`${'h'.repeat(61)}.`.repeat(3)}exam`],
  ['nothing', ''],
  ['blanks', ' \t '],
  ['only an at sign', '@'],
  ['a lone surrogate', 'le\ud800na@harbor.example'],
]

for (const [written, text, key = text.toLowerCase()] of CANONICAL) {
  t.test(`parseAddress takes ${JSON.stringify(written)} for ${text}`, async (t) => {
    const address = parseAddress(written)
    t.match(address, { text, key })
    t.strictSame(parseAddress(text), address, 'the canonical form is its own canonical form')
    holdsTogether(t, address as Address)
  })
}

for (const [name, address] of CONFUSIONS) {
  t.test(`parseAddress refuses ${name}`, async (t) => {
    t.equal(parseAddress(address), undefined)
  })
}

t.test('parseAddress asks for SMTPUTF8 only when the local part is not ASCII', async (t) => {
  t.equal(parseAddress('l\u00e9na@harbor.example')?.utf8, true)
  t.equal(parseAddress('lena@h\u00e4fen.example')?.utf8, false)
})

t.test('parseAddress answers in time linear in what it is given', async (t) => {
  for (const evil of [
    '"'.padEnd(200_000, '\\"'),
    'a.'.repeat(100_000),
    `a@${'a-'.repeat(100_000)}`,
    ' '.repeat(200_000),
  ]) {
    const start = ownCpu()
    t.equal(parseAddress(evil), undefined)
    t.ok(ownCpu() - start < 200)
  }
})

t.test('parseAddress takes every valid address of the corpus and refuses every wrong one', skip, async (t) => {
  const corpus = JSON.parse(readFileSync(CORPUS, 'utf8')) as { address: string; category: string }[]
  const counts = { valid: 0, wrong: 0 }
  for (const { address, category } of corpus) {
    const parsed = parseAddress(address)
    if (parsed) holdsTogether(t, parsed)
    if (category === 'ISEMAIL_VALID_CATEGORY') {
      counts.valid++
      t.ok(parsed, `valid: ${JSON.stringify(address)}`)
    }
    if (category === 'ISEMAIL_ERR') {
      counts.wrong++
      t.equal(parsed, undefined, `wrong: ${JSON.stringify(address)}`)
    }
  }
  t.ok(counts.valid > 10 && counts.wrong > 50, `${counts.valid} valid, ${counts.wrong} wrong`)
})

/** The domain that was validated is the one that is looked up, written into RCPT TO and read by whoever reads the address. */
function holdsTogether(t: Test, { text, local, domain, key }: Address): void {
  t.equal(text, `${local}@${domain}`)
  t.match(domain, /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/)
  t.equal(key, text.toLowerCase())
  t.notMatch(text, /[\x00-\x1f\x7f]/)
  const unquoted = text.replace(/^"(?:[^"\\]|\\.)*"/, '')
  t.equal(unquoted, unquoted.startsWith('@') ? `@${domain}` : text, 'a quoted local part is quoted as a whole')
  t.equal(unquoted.lastIndexOf('@'), unquoted.indexOf('@'), 'one at sign outside quotes')
  t.notMatch(unquoted, /[\s<>(),:;"\\[\]]/)
}
