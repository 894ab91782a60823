/** What a dynamic template consists of: the nodes the parser makes of its text and nothing else ever makes. */
export type Node = Text | Comment | Output | Block

/** The nodes of a template, a block's inside or one of its else branches. */
export interface Program {
  nodes: Node[]
  /** Names of `as |item index|`. */
  names: readonly string[]
}

export interface Text {
  readonly kind: 'text'
  /** As written, for deciding which lines hold nothing but a tag. */
  readonly written: string
  value: string
  /** Blanks beside a tag that stands alone were taken off on this side. */
  startCut: boolean
  endCut: boolean
}

/** A `~` at either end of a tag takes the white space off there. */
export interface Tilde {
  readonly before: boolean
  readonly after: boolean
}

export interface Comment {
  readonly kind: 'comment'
  readonly tilde: Tilde
}

export interface Output {
  readonly kind: 'output'
  readonly value: Expression
  readonly escaped: boolean
  readonly tilde: Tilde
}

export interface Block {
  readonly kind: 'block'
  readonly name: BlockName
  readonly value: Expression[]
  readonly includeZero: boolean
  readonly program: Program
  readonly otherwise: Program | undefined
  /** `{{^x}}`: the program is for when the value is empty. */
  readonly inverted: boolean
  /** The else branch is one block, written `{{else if …}}`: it has no closing tag of its own. */
  readonly chained: boolean
  readonly open: Tilde
  readonly middle: Tilde
  readonly close: Tilde
}

/** `section` is a block named by a path of the data; `with` renders nothing, as the mirrored service has it. */
export type BlockName = BlockHelper | 'section' | 'with'
export type BlockHelper = 'if' | 'unless' | 'each' | Comparison
export type Comparison = 'equals' | 'notEquals' | 'greaterThan' | 'lessThan' | 'and' | 'or'
export type Helper = Comparison | 'length' | 'formatDate' | 'insert'

export type Expression = Literal | Path | Call

export interface Literal {
  readonly kind: 'literal'
  readonly value: string | number | boolean | null | undefined
}

export interface Path {
  readonly kind: 'path'
  /** `@index`: a word of the loop, or the root. */
  readonly data: boolean
  /** How many `../` it begins with. */
  readonly up: number
  readonly parts: readonly string[]
  /** One plain word: it could be the name of a helper. */
  readonly word: boolean
}

export interface Call {
  readonly kind: 'call'
  readonly helper: Helper
  readonly values: readonly Expression[]
}

/** The text is no template: an outcome of what the account wrote, not a fault. */
export class SyntaxProblem extends Error {
  readonly line: number
  readonly column: number

  constructor(text: string, at: number, problem: string) {
    super(problem)
    const before = text.slice(0, at)
    this.line = before.split('\n').length
    this.column = at - (before.lastIndexOf('\n') + 1) + 1
  }
}
