import t from 'tap'
import { createByteBudget } from '../../packages/core/src/index.ts'
import { BodyReservation, CLIENT_LOST, collectMessage } from '../../packages/relay/src/message/message-data.ts'
import { CommandStream } from '../../packages/relay/src/smtp/command-stream.ts'

/** What the data means (RFC 5321 4.5.2), and what stands behind it; undefined where it does not end. */
function meaning(text: string): { message: string; behind: string } | undefined {
  const end = text.startsWith('.\r\n') ? -2 : text.indexOf('\r\n.\r\n')
  if (end === -1) return undefined
  const message = text.slice(0, end + 2).replace(/(^|\r\n)\.\./g, '$1.')
  return { message, behind: text.slice(end + 5) }
}

/** Feeds the data in pieces and answers what came out. */
async function feed(pieces: readonly string[]): Promise<{ message: string; behind: string } | undefined> {
  const parser = new CommandStream()
  let behind = ''
  parser.oncommand = (command: Buffer, next: () => void) => {
    behind += `${command.toString('latin1')}\r\n`
    next()
  }
  const stream = parser.startDataMode(1e9)
  const octets: Buffer[] = []
  let ended = false
  stream.on('data', (chunk: Buffer) => octets.push(chunk))
  stream.once('end', () => {
    ended = true
    parser.continue()
  })
  for (const piece of pieces) parser.write(Buffer.from(piece, 'latin1'))
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  return ended ? { message: Buffer.concat(octets).toString('latin1'), behind } : undefined
}

const DATA = [
  '.\r\n',
  'a\r\n.\r\n',
  '..\r\n.\r\n',
  '...\r\n.\r\n',
  '..a\r\n..\r\n..b\r\n.\r\n',
  'a\r\n\r\n..\r\n\r\n.\r\n',
  'a\r.\r\nb\n.\r\n.c\r\r\n.\r\n',
  'a\n.\n\r.\r\r\n..\r\n.\r\nQUIT\r\n',
  '\r\n.\r\nNOOP\r\nQUIT\r\n',
  '\r\n\r\n..\n\r\n.\r\n',
  'a\r\n.',
  'a\r\n.\r',
  '..',
]

for (const text of DATA) {
  const name = JSON.stringify(text)
  t.test(`message data ${name} means the same however it is cut into pieces`, async (t) => {
    const wanted = meaning(text)
    t.same(await feed([text]), wanted, 'whole')
    t.same(await feed([...text]), wanted, 'octet by octet')
    for (let first = 1; first < text.length; first++) {
      for (let second = first; second < text.length; second++) {
        const pieces = [text.slice(0, first), text.slice(first, second), text.slice(second)].filter((one) => one !== '')
        const found = await feed(pieces)
        if (JSON.stringify(found) !== JSON.stringify(wanted)) t.same(found, wanted, JSON.stringify(pieces))
      }
    }
  })
}

t.test('random message data means the same however it is cut', async (t) => {
  let seed = 7
  const random = (below: number): number => {
    seed = (seed * 1103515245 + 12345) % 2147483648
    return Math.floor((seed / 2147483648) * below)
  }
  for (let round = 0; round < 1500; round++) {
    const text = Array.from({ length: random(30) }, () => ['\r\n', '.', 'a', '\r', '\n', '\r\n.'][random(6)]).join('')
    // A line ".x" is no stuffed dot: nothing a client may send, and no two servers agree on it.
    if (/(^|\r\n)\.(?![.\r]|$)|(^|\r\n)\.\r(?!\n|$)/.test(text)) continue
    const whole = `${text}\r\n.\r\n`
    const wanted = meaning(whole)
    if (wanted?.behind !== '') continue
    const cuts = [random(whole.length), random(whole.length)].sort((a, b) => a - b) as [number, number]
    const pieces = [whole.slice(0, cuts[0]), whole.slice(...cuts), whole.slice(cuts[1])].filter((one) => one !== '')
    const found = await feed(pieces)
    if (JSON.stringify(found) !== JSON.stringify(wanted)) t.same(found, wanted, JSON.stringify(pieces))
  }
  t.pass()
})

t.test('a reader that ends a message by its last octets and goes on at once loses no command behind it', async (t) => {
  const parser = new CommandStream()
  const commands: string[] = []
  parser.oncommand = (command: Buffer, next: () => void) => {
    commands.push(command.toString('latin1'))
    next()
  }
  const stream = parser.startDataMode(1e9)
  stream.on('data', (chunk: Buffer) => {
    if (!chunk.includes('ghi')) return
    stream.destroy()
    parser.continue()
  })
  // From now on it is read at once.
  await new Promise((resolve) => setImmediate(resolve))
  for (const piece of ['abc\r\ndef', 'ghi\r\n.\r\nNOOP\r\n', 'RSET\r\n']) parser.write(piece)
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(commands, ['NOOP', 'RSET'])
})

t.test('a message whose client is lost in the middle is given up', { timeout: 10_000 }, async (t) => {
  const parser = new CommandStream()
  const stream = parser.startDataMode(1e9)
  const collected = collectMessage(stream, new BodyReservation(createByteBudget(100_000), undefined))
  parser.write('Subject: Hello\r\n\r\nHalf of')
  await new Promise((resolve) => setImmediate(resolve))
  stream.destroy()
  await t.rejects(collected, { code: CLIENT_LOST })
})
