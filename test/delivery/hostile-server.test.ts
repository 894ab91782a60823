import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { type DeliveryDetails, startInternetProcess, stepsOf } from './outbox.ts'
import { type Says, startRawServer, talkSmtp } from './raw-server.ts'

const internet = await startInternetProcess(t)
const { pid } = internet.worker

/** A domain whose only host behaves like this. */
async function domainOf(t: Test, talk: (socket: Socket) => void): Promise<string> {
  const server = await startRawServer(t, { host: internet.newAddress(), port: internet.port }, talk)
  return internet.domain({ a: [server.host] })
}

async function outcomeOf(t: Test, talk: (socket: Socket) => void): Promise<DeliveryDetails> {
  const domain = await domainOf(t, talk)
  return internet.attempted(await internet.send(`a@${domain}`))
}

/** Writes as much as the other side takes, up to so many octets. */
function flood(socket: Socket, piece: string, octets: number): void {
  const block = Buffer.from(piece.repeat(Math.ceil(65_536 / piece.length)), 'latin1')
  let left = octets
  const pump = (): void => {
    while (left > 0 && !socket.destroyed) {
      left -= block.length
      if (!socket.write(block)) {
        socket.once('drain', pump)
        return
      }
    }
  }
  pump()
}

const HUGE = 100 * 1024 * 1024

/** Answers the line that starts like this by itself, everything else obligingly. */
function at(start: string, answer: (socket: Socket) => string | undefined): (socket: Socket) => void {
  const says: Says = (line, socket) =>
    (start === '' ? line === '' : line.startsWith(start)) ? (answer(socket) ?? '') : undefined
  return (socket) => talkSmtp(socket, says)
}

function flooding(start: string, head: string, piece: string): (socket: Socket) => void {
  return at(start, (socket) => {
    setImmediate(() => flood(socket, piece, HUGE))
    return head
  })
}

const DEFERRED: Readonly<
  Record<string, { stage: string | RegExp; talk: (socket: Socket) => void; indeterminate?: boolean }>
> = {
  'greets with a line that never ends': { stage: /greeting|ehlo/, talk: flooding('', '220 ', 'A') },
  'greets with continuation lines that never end': { stage: 'greeting', talk: flooding('', '', '220-hello\r\n') },
  'answers EHLO with a line that never ends': { stage: 'ehlo', talk: flooding('EHLO', '250-', 'A') },
  'answers EHLO with a million capabilities': { stage: 'ehlo', talk: flooding('EHLO', '', '250-X\r\n') },
  'answers RCPT with continuation lines that never end': { stage: 'rcpt', talk: flooding('RCPT', '', '250-yes\r\n') },
  'answers the final dot with lines that never end': {
    stage: 'dot',
    talk: flooding('.', '', '250-yes\r\n'),
    indeterminate: true,
  },
  'sends replies without end before anything is asked': {
    stage: /ehlo|mail/,
    talk: flooding('', '220 hi\r\n', '250 ok\r\n'),
  },
  'sends all its replies before anything is asked': {
    stage: 'ehlo',
    talk: (socket) => void socket.write('220 hi\r\n250 a\r\n250 b\r\n250 c\r\n354 d\r\n250 e\r\n'),
  },
  'answers MAIL for RCPT and DATA too': {
    stage: 'rcpt',
    talk: at('MAIL', () => '250 a\r\n250 b\r\n354 c\r\n250 d\r\n'),
  },
  'is a web server': { stage: 'greeting', talk: at('', () => 'HTTP/1.1 400 Bad Request\r\n\r\n') },
  'is something binary': { stage: 'greeting', talk: at('', () => '\x16\x03\x01\x02\x00\x01\r\n\0\xff\xfe\n') },
  'greets with an empty line': { stage: 'greeting', talk: at('', () => '\r\n220 hi\r\n') },
  'greets with a code of four digits': { stage: 'greeting', talk: at('', () => '2200 hi\r\n') },
  'greets with a code that does not exist': { stage: 'greeting', talk: at('', () => '999 hi\r\n') },
  'greets with code 000': { stage: 'greeting', talk: at('', () => '000 hi\r\n') },
  'greets with 250': { stage: 'greeting', talk: at('', () => '250 hi\r\n') },
  'answers EHLO with 354': { stage: 'ehlo', talk: at('EHLO', () => '354 hi\r\n') },
  'answers MAIL with 354': { stage: 'mail', talk: at('MAIL', () => '354 go\r\n') },
  'answers MAIL with 220': { stage: 'mail', talk: at('MAIL', () => '220 hi\r\n') },
  'answers RCPT with 354': { stage: 'rcpt', talk: at('RCPT', () => '354 go\r\n') },
  'answers DATA with 250': { stage: 'data', talk: at('DATA', () => '250 ok\r\n') },
  'answers the final dot with 354': { stage: 'dot', talk: at('.', () => '354 more\r\n') },
  'answers the final dot with garbage': { stage: 'dot', talk: at('.', () => 'OK\r\n'), indeterminate: true },
  'hangs up in the middle of its reply to the dot': {
    stage: 'dot',
    talk: at('.', (socket) => {
      setImmediate(() => socket.destroySoon())
      return '250-2.0.0 tak'
    }),
    indeterminate: true,
  },
}

for (const [what, { stage, talk, indeterminate = false }] of Object.entries(DEFERRED)) {
  t.test(`a server that ${what} is left, and the message is deferred`, async (t) => {
    const before = peakMemory()
    const delivery = await outcomeOf(t, talk)
    t.match(delivery, { state: 'deferred', attempts: [{ stage, outcome: 'deferred', indeterminate }] })
    t.ok(Buffer.byteLength(delivery.attempts[0]?.reply ?? '') <= 1024)
    t.ok(JSON.stringify(stepsOf(delivery)).length < 16_384)
    t.ok(peakMemory() - before < 64 * 1024, 'and little of it was kept')
  })
}

/** The most memory the worker ever had, in KiB. */
function peakMemory(): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}

const CLEANED: Readonly<Record<string, { said: string; stored: string | RegExp }>> = {
  'control characters': { said: '550 5.1.1 a\0b\x1b[31mc\x07\x7f\td\r\n', stored: 'a b [31mc d' },
  'a bare CR': { said: '550 5.1.1 a\rb\r\n', stored: 'a b' },
  'characters that turn text around or hide': {
    said: Buffer.from('550 5.1.1 a\u202eb\u200bc\u2028d\u0085e\ufefff\r\n').toString('latin1'),
    stored: 'a b c d e f',
  },
  'octets that are not UTF-8': { said: '550 5.1.1 caf\xe9\r\n', stored: 'caf\ufffd' },
  'lines ended by LF alone': { said: '550-5.1.1 one\n550 5.1.1 two\n', stored: 'one two' },
  'several lines with other enhanced codes': { said: '550-5.1.1 one\r\n550 5.7.1 two\r\n', stored: 'one 5.7.1 two' },
  'code and nothing else': { said: '550\r\n', stored: '' },
  markup: { said: '550 5.1.1 <script>alert(1)</script>\r\n', stored: '<script>alert(1)</script>' },
}

for (const [what, { said, stored }] of Object.entries(CLEANED)) {
  t.test(`a reply with ${what} is stored clean`, async (t) => {
    const delivery = await outcomeOf(
      t,
      at('RCPT', () => said),
    )
    t.match(delivery, { state: 'bounced', attempts: [{ stage: 'rcpt', code: 550 }] })
    t.equal(delivery.attempts[0]?.reply, stored)
  })
}

const LONG: Readonly<Record<string, string>> = {
  'many lines': `${`550-5.1.1 ${'word '.repeat(50)}\r\n`.repeat(100)}550 5.1.1 end\r\n`,
  'one long line': `550 5.1.1 ${'x'.repeat(4000)}\r\n`,
  'a character of four octets at the limit': `550 ${Buffer.from(`${'x'.repeat(1023)}\u{1f4eb}\u{1f4eb}`).toString('latin1')}\r\n`,
  'characters of four octets all along': `550 ${Buffer.from('\u{1f4eb}'.repeat(900)).toString('latin1')}\r\n`,
  'half a character at the limit of a step': `550 ${Buffer.from(`${'x'.repeat(255)}\u{1f4eb}`).toString('latin1')}\r\n`,
}

for (const [what, said] of Object.entries(LONG)) {
  t.test(`a reply of ${what} is stored with at most a kilobyte of it`, async (t) => {
    const delivery = await outcomeOf(
      t,
      at('RCPT', () => said),
    )
    t.match(delivery, { state: 'bounced', attempts: [{ stage: 'rcpt', code: 550 }] })
    const reply = delivery.attempts[0]?.reply ?? ''
    t.ok(Buffer.byteLength(reply) > 200 && Buffer.byteLength(reply) <= 1024, `${Buffer.byteLength(reply)}`)
    t.ok(reply.isWellFormed() && !reply.includes('\ufffd'))
    for (const { text = '' } of stepsOf(delivery)) t.ok(Buffer.byteLength(text) <= 256 && text.isWellFormed())
  })
}

for (const [what, said] of Object.entries({
  'a line of 60,000 octets': `250 2.0.0 ${'x'.repeat(60_000)}\r\n`,
  'a line that never ends': `250 2.0.0 ${'x'.repeat(200_000)}`,
  'two hundred lines': `${'250-2.0.0 yes\r\n'.repeat(200)}250 2.0.0 taken\r\n`,
})) {
  t.test(`end of data with a reply of 250 in ${what} is a delivery`, async (t) => {
    const delivery = await outcomeOf(
      t,
      at('.', () => said),
    )
    t.match(delivery, { state: 'delivered', attempts: [{ stage: 'dot', code: 250 }] })
    t.ok(Buffer.byteLength(delivery.attempts[0]?.reply ?? '') <= 1024)
  })
}

t.test('of two hundred capabilities those that fit are taken', async (t) => {
  const offered = ['PIPELINING', ...Array.from({ length: 200 }, (_, at) => `X-${at}`)]
  const says = `250-hi\r\n${offered.map((one) => `250-${one}\r\n`).join('')}250 HELP\r\n`
  const delivery = await outcomeOf(
    t,
    at('EHLO', () => says),
  )
  t.match(delivery, { state: 'delivered' })
})

t.test('unknown capabilities change nothing', async (t) => {
  const capabilities = [
    '__PROTO__ x',
    'CONSTRUCTOR',
    'toString',
    'SIZE\0 1',
    'PIPELINING\r',
    'x'.repeat(4000),
    '',
    ' ',
    '=',
  ]
  const domain = await domainOf(t, (socket) => talkSmtp(socket, undefined, capabilities))
  await internet.inState(await internet.send(`a@${domain}`), 'delivered')
})

t.test('a server that speaks an octet at a time is understood', async (t) => {
  const domain = await domainOf(t, (socket) => {
    const { write } = socket
    socket.write = (text: unknown) => {
      for (const octet of text as Buffer) write.call(socket, Buffer.from([octet]))
      return true
    }
    talkSmtp(socket)
  })
  await internet.inState(await internet.send(`a@${domain}`), 'delivered')
})

t.test('after all that the worker is the same, and delivers', async (t) => {
  const host = await internet.host(t)
  await internet.inState(await internet.send(`a@${internet.domain([host])}`), 'delivered')
  t.doesNotThrow(() => process.kill(pid, 0))
  t.strictSame(
    internet.worker.log.filter(({ level }) => Number(level) >= 50),
    [],
    'and its log holds no fault',
  )
})
