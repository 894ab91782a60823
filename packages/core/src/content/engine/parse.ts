import { type Call, foldLengths, helperOf, Reader, toCall } from './expression.ts'
import { type Block, type BlockName, type Expression, type Program, SyntaxProblem, type Tilde } from './syntax.ts'
import { cutTags, type Piece, type Tag } from './tags.ts'
import { stripLines } from './white-space.ts'

/** Maximum nesting of blocks; each link of an `{{else if}}` chain counts. */
const MAX_DEPTH = 200
/** Number of arguments a block takes; a section takes none. */
const BLOCKS: Readonly<Record<Exclude<BlockName, 'section'>, readonly [min: number, max: number]>> = {
  if: [1, 1],
  unless: [1, 1],
  each: [1, 1],
  equals: [2, 2],
  notEquals: [2, 2],
  greaterThan: [2, 2],
  lessThan: [2, 2],
  and: [2, 50],
  or: [2, 50],
  with: [1, 1],
}
const NO_TILDE: Tilde = { before: false, after: false }

/**
 * Parses a template from its text, the only way to create a syntax tree.
 *
 * Throws SyntaxProblem.
 */
export function parseTemplate(text: string): Program {
  const reader = new BlockReader(text)
  const { program, ended } = reader.program([], 0)
  if (ended) throw new SyntaxProblem(text, ended.at, 'no open block; remove this tag, or open the block before it')
  stripLines(program)
  return program
}

/** The content of the tag that opens a block. */
interface Opening {
  readonly name: BlockName
  readonly values: Expression[]
  readonly includeZero: boolean
  readonly names: readonly string[]
  /** The text that the closing tag has to repeat. */
  readonly written: string
}

class BlockReader {
  readonly #text: string
  readonly #pieces: Iterator<Piece>

  constructor(text: string) {
    this.#text = text
    this.#pieces = cutTags(text)
  }

  /** Parses up to the tag that ends the program, or to the end of the text. */
  program(names: readonly string[], depth: number): { program: Program; ended: Tag | undefined } {
    const program: Program = { nodes: [], names }
    for (;;) {
      const { value: piece, done } = this.#pieces.next()
      if (done) return { program, ended: undefined }
      if (piece.kind === 'text') {
        program.nodes.push({ kind: 'text', written: piece.text, value: piece.text, startCut: false, endCut: false })
      } else if (piece.kind === 'comment') program.nodes.push(piece)
      else if (piece.kind === 'output' || piece.kind === 'raw') program.nodes.push(this.#output(piece))
      else if (piece.kind === 'open') program.nodes.push(this.#block(piece, this.#opening(piece), false, depth + 1))
      else if (piece.kind === 'openInverted' && piece.words.length > 0) {
        program.nodes.push(this.#block(piece, this.#opening(piece), true, depth + 1))
      } else return { program, ended: piece }
    }
  }

  #output({ kind, tilde, at, words, end }: Tag): Program['nodes'][number] {
    const { head, values, named } = new Reader(this.#text, words, end).call()
    const simple = values.length === 0 && named.size === 0
    const value = simple ? asPath(head) : toCall(this.#text, at, head, values, named)
    return { kind: 'output', value, escaped: kind === 'output', tilde }
  }

  #opening(tag: Tag): Opening {
    const call = new Reader(this.#text, tag.words, tag.end).call()
    const { head, named, names } = call
    const { name, values } = this.#blockOf(tag, call)
    const zero = named.get('includeZero')
    const includeZero = zero?.kind === 'literal' && zero.value === true
    return { name, values, includeZero, names, written: writtenOf(head) }
  }

  #blockOf({ at }: Tag, { head, values, named }: Call): { name: BlockName; values: Expression[] } {
    const name = head.kind === 'path' && head.word ? (head.parts[0] as string) : undefined
    if (name !== undefined && Object.hasOwn(BLOCKS, name)) {
      const known = name as keyof typeof BLOCKS
      const folded = known === 'with' || known === 'each' ? values : foldLengths(known, values)
      const [min, max] = BLOCKS[known]
      if (folded.length >= min && folded.length <= max) return { name: known, values: folded }
      const expected = min === max ? `${min}` : `at least ${min}`
      throw new SyntaxProblem(this.#text, at, `#${name} takes ${expected} arguments (got ${folded.length})`)
    }
    if (values.length === 0 && named.size === 0) return { name: 'section', values: [asPath(head)] }
    if (helperOf(head)) throw new SyntaxProblem(this.#text, at, `${JSON.stringify(name)} cannot be a block`)
    return { name: 'section', values: [toCall(this.#text, at, head, values, named)] }
  }

  /** Parses the rest of a block after its opening tag. */
  #block(tag: Tag, opening: Opening, inverted: boolean, depth: number): Block {
    const { block, ended } = this.#branches(tag, opening, inverted, depth)
    const closing = new Reader(this.#text, ended.words, ended.end)
    const written = ended.words.length > 0 ? writtenOf(closing.call().head) : ''
    if (ended.kind !== 'close' || written !== opening.written) {
      const name = shortened(opening.written)
      throw new SyntaxProblem(
        this.#text,
        ended.at,
        `block "${name}" is closed by another tag; end it with {{/${name}}}`,
      )
    }
    return block
  }

  #branches(tag: Tag, opening: Opening, inverted: boolean, depth: number): { block: Block; ended: Tag } {
    if (depth > MAX_DEPTH) throw new SyntaxProblem(this.#text, tag.at, 'blocks are nested too deeply')
    const first = this.program(opening.names, depth)
    let ended = this.#required(first.ended, tag, opening)
    let middle = NO_TILDE
    let otherwise: Program | undefined
    let chained = false
    if (ended.kind !== 'close') {
      middle = ended.tilde
      chained = ended.words.length > 0
      const link = ended
      if (chained) {
        const inner = this.#branches(link, this.#opening(link), false, depth + 1)
        otherwise = { nodes: [inner.block], names: [] }
        ended = inner.ended
      } else {
        const second = this.program([], depth)
        otherwise = second.program
        ended = this.#required(second.ended, tag, opening)
        if (ended.kind !== 'close') throw new SyntaxProblem(this.#text, ended.at, 'duplicate else in block')
      }
    }
    const { name, values, includeZero } = opening
    const tildes = { open: tag.tilde, middle, close: ended.tilde }
    const { program } = first
    return {
      block: { kind: 'block', name, value: values, includeZero, program, otherwise, inverted, chained, ...tildes },
      ended,
    }
  }

  #required(ended: Tag | undefined, tag: Tag, { written }: Opening): Tag {
    if (!ended)
      throw new SyntaxProblem(this.#text, tag.at, `block is not closed; end it with {{/${shortened(written)}}}`)
    return ended
  }
}

function shortened(written: string): string {
  return written.slice(0, 100)
}

/** `{{12}}` and `{{"a b"}}` refer to members of the data. */
function asPath(head: Expression): Expression {
  if (head.kind !== 'literal') return head
  return { kind: 'path', data: false, up: 0, parts: [String(head.value)], word: true }
}

/** Normalized text of a path, the same for all notations of its names. */
function writtenOf(head: Expression): string {
  const path = asPath(head)
  if (path.kind !== 'path') return '('
  return `${path.data ? '@' : ''}${'../'.repeat(path.up)}${path.parts.join('.') || 'this'}`
}
