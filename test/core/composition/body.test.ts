import { randomBytes } from 'node:crypto'
import t from 'tap'
import { decodePart, type EncodedPart, encodePart } from '../../../packages/core/src/composition/body.ts'

const sentence = 'Your berth is ready, please bring your papers to the harbour office. '
const text = (length: number) => Buffer.from(sentence.repeat(Math.ceil(length / sentence.length)).slice(0, length))
const base64 = (length: number) => Buffer.from(randomBytes(length).toString('base64').slice(0, length))

const CASES: readonly (readonly [name: string, octets: Buffer, encoding: 'raw' | 'deflate'])[] = [
  ['nothing', Buffer.alloc(0), 'raw'],
  ['a short text', text(16_384), 'raw'],
  ['a text worth deflating', text(16_385), 'deflate'],
  ['100 kB of text', text(100_000), 'deflate'],
  ['1 MB of text', text(1024 * 1024), 'deflate'],
  ['more than 1 MB of text', text(1024 * 1024 + 1), 'raw'],
  ['random octets', randomBytes(20_000), 'raw'],
  ['many random octets', randomBytes(100_000), 'raw'],
  ['much base64, which shrinks too little for its price', base64(100_000), 'raw'],
  ['every octet there is', Buffer.from(Array.from({ length: 256 }, (_, octet) => octet)), 'raw'],
  ['zeros', Buffer.alloc(50_000), 'deflate'],
]

const inPieces = (octets: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(octets.length / size) }, (_, at) => octets.subarray(at * size, (at + 1) * size))
const stored = ({ encoding, pieces }: EncodedPart) => ({ encoding, content: Buffer.concat(pieces) })

for (const [name, octets, encoding] of CASES) {
  t.test(`${name}: stored as ${encoding}, and read as it was`, async (t) => {
    for (const pieces of [[octets], inPieces(octets, 7000), [octets.subarray(0, 100), octets.subarray(100)]]) {
      const part = encodePart(pieces)
      t.equal(part.encoding, encoding)
      t.ok(part.length <= octets.length, 'never larger than it was')
      const kept = stored(part)
      t.equal(part.length, kept.content.length)
      t.ok(decodePart(kept, octets.length).equals(octets))
      t.ok(decodePart(kept, octets.length * 3).equals(octets), 'the bound may be that of the whole message')
    }
  })
}

t.test('decodePart throws when the octets are damaged or inflate to more than was stored', async (t) => {
  const part = stored(encodePart([text(20_000)]))
  t.throws(() => decodePart(part, 19_999))
  t.throws(() => decodePart({ ...part, content: part.content.subarray(0, 40) }, 20_000))
  t.throws(() => decodePart({ ...part, content: Buffer.concat([Buffer.of(0xff, 0xff), part.content]) }, 20_000))
})
