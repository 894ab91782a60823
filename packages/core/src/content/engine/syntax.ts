/** The syntax tree of a dynamic template. Only the parser creates nodes. */
export type Node = Text | Comment | Output | Block

/** The nodes of a template, of a block or of an else branch. */
export interface Program {
  nodes: Node[]
  /** The names in `as |item index|`. */
  names: readonly string[]
}

export interface Text {
  readonly kind: 'text'
  /** The original text, used to find lines that contain only a tag. */
  readonly written: string
  value: string
  /** Whether white space next to a standalone tag was removed on this side. */
  startCut: boolean
  endCut: boolean
}

/** A `~` at either end of a tag removes the white space on that side. */
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
  /** `{{^x}}`: the program is rendered if the value is falsy. */
  readonly inverted: boolean
  /** The else branch is a single block written as `{{else if …}}`, which has no closing tag. */
  readonly chained: boolean
  readonly open: Tilde
  readonly middle: Tilde
  readonly close: Tilde
}

/** `section` is a block named by a path in the data; `with` renders nothing, as in the original service. */
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
  /** `@index`: a loop variable, or the root. */
  readonly data: boolean
  /** Number of leading `../`. */
  readonly up: number
  readonly parts: readonly string[]
  /** A single plain word, which could be the name of a helper. */
  readonly word: boolean
}

export interface Call {
  readonly kind: 'call'
  readonly helper: Helper
  readonly values: readonly Expression[]
}

/** The text is not a valid template. Caused by the account's template, not an internal error. */
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
