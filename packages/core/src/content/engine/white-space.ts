import type { Block, Node, Program, Text } from './syntax.ts'

/*
 * White space as in Handlebars: `~` removes all white space on its side, and a line that contains only one opening,
 * closing or else tag, or a comment, is removed. Each end of each text is inspected once, so this takes linear time.
 */

interface Strip {
  readonly before: boolean
  readonly after: boolean
  readonly openAlone: boolean
  readonly closeAlone: boolean
  readonly alone: boolean
}

export function stripLines(root: Program): void {
  stripProgram(root, true)
}

function stripProgram({ nodes }: Program, root: boolean): void {
  for (const [at, node] of nodes.entries()) {
    const strip = stripOf(node)
    if (!strip) continue
    const lineBegins = endsLine(nodes, at, root)
    const lineEnds = beginsLine(nodes, at, root)
    if (strip.after) cutStart(nodes[at + 1], true)
    if (strip.before) cutEnd(nodes[at - 1], true)
    if (strip.alone && lineBegins && lineEnds) {
      cutStart(nodes[at + 1], false)
      cutEnd(nodes[at - 1], false)
    }
    if (node.kind !== 'block') continue
    if (strip.openAlone && lineBegins) {
      cutStart(node.program.nodes[0], false)
      cutEnd(nodes[at - 1], false)
    }
    if (strip.closeAlone && lineEnds) {
      cutStart(nodes[at + 1], false)
      cutEnd((node.otherwise ?? node.program).nodes.at(-1), false)
    }
  }
}

function stripOf(node: Node): Strip | undefined {
  if (node.kind === 'text') return undefined
  if (node.kind === 'block') return stripBlock(node)
  return { ...node.tilde, openAlone: false, closeAlone: false, alone: node.kind === 'comment' }
}

function stripBlock(block: Block): Strip {
  const { program, otherwise, open, middle, close } = block
  stripProgram(program, false)
  if (otherwise) stripProgram(otherwise, false)
  const link = block.chained ? (otherwise?.nodes[0] as Block) : undefined
  const first = link?.program ?? otherwise
  const strip: Strip = {
    before: open.before,
    after: close.after,
    openAlone: beginsLine(program.nodes, -1, false),
    closeAlone: endsLine((first ?? program).nodes, (first ?? program).nodes.length, false),
    alone: false,
  }
  if (open.after) cutStart(program.nodes[0], true)
  if (!first) {
    if (close.before) cutEnd(program.nodes.at(-1), true)
    return strip
  }
  if (middle.before) cutEnd(program.nodes.at(-1), true)
  if (middle.after) cutStart(first.nodes[0], true)
  if (close.before) cutEnd(lastOf(block).nodes.at(-1), true)
  if (endsLine(program.nodes, program.nodes.length, false) && beginsLine(first.nodes, -1, false)) {
    cutEnd(program.nodes.at(-1), false)
    cutStart(first.nodes[0], false)
  }
  return strip
}

/** Returns the last branch of an else chain. */
function lastOf(block: Block): Program {
  let last = block
  while (last.chained) last = last.otherwise?.nodes[0] as Block
  return last.otherwise ?? last.program
}

/** Whether the line is empty before node `at`. */
function endsLine(nodes: readonly Node[], at: number, root: boolean): boolean {
  const before = nodes[at - 1]
  if (!before) return root
  if (before.kind !== 'text') return false
  const text = before.written
  const blank = text.slice(text.trimEnd().length)
  return blank.includes('\n') || (blank.length === text.length && root && at === 1)
}

/** Whether the line is empty after node `at`. */
function beginsLine(nodes: readonly Node[], at: number, root: boolean): boolean {
  const next = nodes[at + 1]
  if (!next) return root
  if (next.kind !== 'text') return false
  const text = next.written
  const blank = text.slice(0, text.length - text.trimStart().length)
  return blank.includes('\n') || (blank.length === text.length && root && nodes[at + 2] === undefined)
}

function cutStart(node: Node | undefined, all: boolean): void {
  if (!isText(node) || (!all && node.startCut)) return
  const before = node.value
  node.value = all ? before.trimStart() : before.replace(/^[ \t]*\r?\n?/, '')
  node.startCut = node.value !== before
}

function cutEnd(node: Node | undefined, all: boolean): void {
  if (!isText(node) || (!all && node.endCut)) return
  const before = node.value
  node.value = all ? before.trimEnd() : before.slice(0, blankTail(before))
  node.endCut = node.value !== before
}

function blankTail(text: string): number {
  let end = text.length
  while (end > 0 && (text[end - 1] === ' ' || text[end - 1] === '\t')) end--
  return end
}

function isText(node: Node | undefined): node is Text {
  return node?.kind === 'text'
}
