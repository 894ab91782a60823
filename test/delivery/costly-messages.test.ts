import { generateKeyPairSync, randomUUID } from 'node:crypto'
import type { LoadedMessage } from '@postrider/core'
import t from 'tap'
import { signMessage } from '../../packages/delivery/src/message/sign-message.ts'
import { dotStuffed, stuffedBlocks } from '../../packages/delivery/src/smtp/dot-stuffing.ts'
import { makeService } from '../helpers/service.ts'
import { longestTurnOf } from '../helpers/turns.ts'

/** Milliseconds of processor time. Each of these took 200 to 12,000 in one turn. */
const MOST = 150
const OCTETS = 28 * 1024 * 1024

const { core } = await makeService(t)
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const signing = {
  signer: { domain: 'ship.example', selector: 's1', privateKey, ed25519: null },
  operator: null,
  signedAt: Date.now(),
  added: '',
}
const TRACKED = { openTracking: true, clickTracking: true, unsubscribe: true } as const

function loaded(format: 'mime' | 'content', octets: readonly Buffer[], settings = {}): LoadedMessage {
  const parts = new Map(octets.map((part, at) => [at, part]))
  const size = octets.reduce((sum, { length }) => sum + length, 0)
  return {
    id: randomUUID(),
    domainId: 1,
    loss: null,
    accountId: 1,
    acceptedAt: new Date(),
    dueFrom: new Date(),
    format,
    nullReturnPath: false,
    tags: [],
    settings,
    size,
    parts,
  }
}

function relayed(body: string, settings = {}, fields = ''): LoadedMessage {
  const head = Buffer.from(`Received: by x\r\nFrom: desk@ship.example\r\nTo: a@harbor.example\r\n${fields}\r\n`)
  return loaded('mime', [Buffer.concat([head, Buffer.alloc(OCTETS, body, 'latin1')])], settings)
}

function composed(content: object, settings = {}, files: readonly Buffer[] = []): LoadedMessage {
  const document = { from: { email: 'desk@ship.example', name: 'Desk' }, subject: 'Berth 4', ...content }
  return loaded('content', [Buffer.from(JSON.stringify(document)), ...files], settings)
}

const many = (text: string, octets = OCTETS): string => text.repeat(Math.floor(octets / text.length))
const QUOTED = 'Content-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n'
const BASE64 = 'Content-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n'

const GBK = 'Content-Type: text/html; charset=gbk\r\nContent-Transfer-Encoding: 8bit\r\n'

/** Made when its turn comes: two dozen of them do not fit in memory. */
const COSTLY: Readonly<Record<string, () => { message: LoadedMessage; personal?: object }>> = {
  'tabs and letters, relayed': () => ({ message: relayed('\ta') }),
  'blanks in pairs, relayed': () => ({ message: relayed('a  ') }),
  'lines of a blank, relayed': () => ({ message: relayed(' \r\n') }),
  'empty lines, relayed': () => ({ message: relayed('\r\n') }),
  'one letter, relayed': () => ({ message: relayed('a') }),
  'folds and blanks in its header': () => ({
    message: relayed('a\r\n', {}, `Subject: ${many('\r\n\ta', 500_000)}\r\n`),
  }),
  'fields in its header': () => ({ message: relayed('a\r\n', {}, many('to:\r\n', 500_000)) }),
  'a To of its own': () => ({
    message: relayed('\ta'),
    personal: { envelope: 0, ownTo: { name: '', address: 'a@harbor.example' } },
  }),
  'quoted-printable that is added to': () => ({ message: relayed('a =\r\n', TRACKED, QUOTED) }),
  'text that becomes UTF-8, relayed': () => ({ message: relayed('\xb0\xa1\r\n', TRACKED, GBK) }),
  'base64 in single letters that is added to': () => ({ message: relayed('A\r\n', TRACKED, BASE64) }),
  'line ends, composed': () => ({ message: composed({ html: many('\n') }) }),
  'control characters, composed': () => ({ message: composed({ text: many('\0', OCTETS / 6) }) }),
  'letters beyond ASCII, composed': () => ({ message: composed({ html: many('üaaaa') }) }),
  'merge tags': () => ({
    message: composed({ html: many('[%a%]') }),
    personal: { envelope: 0, attributes: { a: '' } },
  }),
  'a small text that grows': () => ({
    message: composed({ html: many('[%a%]', 14_000) }),
    personal: { envelope: 0, attributes: { a: many('\n', 10_000) } },
  }),
  'a small text that substitutions let grow': () => ({
    message: composed({ html: many('ab', 4000), literal: true }),
    personal: { envelope: 0, substitutions: { a: many('\n', 4900) } },
  }),
  'unsubscribe tags': () => ({
    message: composed({ html: many('<%asm_preferences_url%>', 250_000), unsubscribeTags: true }),
  }),
  'links, composed': () => ({ message: composed({ html: many('<a href=http://a.b>', 250_000) }, TRACKED) }),
  'a file of 28 MB': () => ({
    message: composed({ html: 'x', attachments: [1], files: { 1: 'plan.pdf' } }, {}, [Buffer.alloc(OCTETS, 'x')]),
  }),
}

for (const [what, make] of Object.entries(COSTLY)) {
  t.test(`a letter of ${what} delays no others`, async (t) => {
    const { message, personal = null } = make()
    let signature = ''
    const turn = await longestTurnOf(MOST, async () => {
      const { octets: made } = await core.messages.render(message, {
        recipient: 'a@harbor.example',
        recipientNo: 0,
        personal,
      })
      signature = await (await signMessage(message, made, signing)).fields
    })
    t.match(signature, /^DKIM-Signature: /)
    t.ok(turn < MOST, `${turn} ms`)
    t.comment(`${turn} ms`)
  })
}

t.test('a letter written in the thread is, octet for octet, what is written at once', async (t) => {
  const html = `<p>${'Grüße, '.repeat(50)}</p>\r\n`
  const delivery = {
    recipient: 'a@harbor.example',
    recipientNo: 3,
    personal: { envelope: 3, attributes: { n: 'Lena' } },
  }
  const small = composed({ html: `${html}[%n%]`, text: '[%n%]' }, TRACKED)
  const { id, acceptedAt } = small
  const files = [Buffer.alloc(3_000_000, 'plan')]
  const withFile = composed({ html: `${html}[%n%]`, text: '[%n%]', files: { 1: 'p.pdf' } }, TRACKED, files)
  const [atOnce, inThread, again] = await Promise.all(
    [small, { ...withFile, id, acceptedAt }, { ...withFile, id, acceptedAt }].map((message) =>
      core.messages.render(message, delivery),
    ),
  )
  t.ok(atOnce?.octets.includes('Lena'))
  t.strictSame(inThread, atOnce, 'its file is not named in the content, so both are the same')
  t.strictSame(again, atOnce)
})

t.test('what cannot be written for a recipient says so from the thread too', async (t) => {
  const message = composed({ html: many('ab', 4000), literal: true })
  const personal = { envelope: 0, substitutions: { a: many('x', 9000) } }
  const delivery = { recipient: 'a@harbor.example', recipientNo: 0, personal }
  await t.rejects(
    Promise.resolve(core.messages.render(message, delivery)),
    /message exceeds the size limit after substitution/,
  )
})

t.test('dots are stuffed in pieces as they are at once', async (t) => {
  const alphabet = ['.', '\r\n', 'a', '\r\n.', 'x'.repeat(30_000)]
  for (let round = 0; round < 300; round++) {
    let text = ''
    for (let at = 0; at < 12; at++) text += alphabet[(round * 7 + at * at * 3 + ((round >> 2) % 5)) % alphabet.length]
    const whole = Buffer.from(`${'y'.repeat(65_530 + (round % 9))}${text}`)
    const wanted = whole.toString().replace(/^\./gm, '..')
    t.equal(Buffer.concat([...stuffedBlocks(whole)]).toString(), wanted)
    t.equal(dotStuffed(whole).toString(), wanted)
  }
  const turn = await longestTurnOf(MOST, () => dotStuffed(Buffer.alloc(64 * 1024, '.\r\n')))
  t.ok(turn < MOST)
})
