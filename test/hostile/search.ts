import fc from 'fast-check'
import { PARSERS, type Parser } from './parsers.ts'

/** A slow input that was found, made as small as can be. */
export interface Finding {
  readonly parser: string
  readonly ms: number
  readonly octets: number
  /** What it is made of: a piece of text and how often it stands there. */
  readonly pieces: readonly (readonly [piece: string, times: number])[]
}

/** Characters of a text that is tried. */
const LONGEST = 64 * 1024
/** Milliseconds of processor time; anything that grows with the length takes a tenth. */
const SLOW_MS = 100
/** A figure this machine's other work made is not seen twice. */
const AGAIN = 2

/** Looks for slow inputs of all parsers, each for its share of so many seconds. The same seed makes the same texts. */
export function* search(
  seconds: number,
  seed: number,
  parsers: readonly Parser[] = PARSERS,
): Generator<Finding | { parser: string; runs: number }> {
  for (const parser of parsers) {
    const share = (seconds * 1000) / parsers.length
    const found = fc.check(
      fc.property(piecesOf(parser), (pieces) => spent(parser, textOf(pieces)) < SLOW_MS),
      { seed, numRuns: 1_000_000, interruptAfterTimeLimit: share, markInterruptAsFailure: false },
    )
    const [pieces] = found.counterexample ?? []
    yield pieces
      ? { parser: parser.name, pieces, ...cost(parser, pieces) }
      : { parser: parser.name, runs: found.numRuns }
  }
}

type Pieces = readonly (readonly [string, number])[]

/** A few pieces of the parser's own grammar, each repeated: what is quadratic is so in some repetition. */
function piecesOf({ words }: Parser): fc.Arbitrary<Pieces> {
  const word = fc.oneof(fc.constantFrom(...words), fc.string({ maxLength: 4 }))
  const piece = fc.array(word, { minLength: 1, maxLength: 4 }).map((found) => found.join(''))
  const times = fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: LONGEST }))
  return fc.array(fc.tuple(piece, times), { minLength: 1, maxLength: 4 })
}

function textOf(pieces: Pieces): string {
  return pieces
    .map(([piece, times]) => piece.repeat(Math.min(times, Math.ceil(LONGEST / (piece.length + 1)))))
    .join('')
    .slice(0, 2 * LONGEST)
}

function spent(parser: Parser, text: string): number {
  let least = Number.POSITIVE_INFINITY
  for (let tried = 0; tried < AGAIN && least >= SLOW_MS; tried++) {
    const before = process.threadCpuUsage()
    try {
      parser.read(text)
    } catch {
      // A refusal is an answer.
    }
    const after = process.threadCpuUsage()
    least = Math.min(least, (after.user + after.system - before.user - before.system) / 1000)
    if (tried === 0 && least < SLOW_MS) return least
  }
  return least
}

function cost(parser: Parser, pieces: Pieces): { ms: number; octets: number } {
  const text = textOf(pieces)
  return { ms: spent(parser, text), octets: Buffer.byteLength(text) }
}
