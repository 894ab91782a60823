import type { Expression, Path, Program } from './syntax.ts'

/** A name that a template reads from its data: a text, a condition that is not output, or a list or object that a block goes into. */
export interface TemplateName {
  /** Its parts, joined by dots. */
  readonly name: string
  readonly kind: 'text' | 'condition' | 'block'
}

/** Maximum names: those of a form that a person fills in. */
const MAX_NAMES = 50

/** Where a part of a template stands: how many blocks around it have data of their own, and the names that those blocks made. */
interface Place {
  readonly depth: number
  readonly made: ReadonlySet<string>
}

/** Returns the names that programs read from the top of the data, in their order; names of an item of a list are not among them. */
export function namesOf(programs: Iterable<Program>): TemplateName[] {
  const found = new Map<string, TemplateName['kind']>()
  const note = (path: Path, kind: TemplateName['kind'], { depth, made }: Place): void => {
    const parts = path.data ? (path.parts[0] === 'root' ? path.parts.slice(1) : []) : path.parts
    const isTop = path.data || (path.up === depth && !made.has(parts[0] ?? ''))
    // A name with a dot could not be told from two names.
    if (!isTop || parts.length === 0 || parts.some((part) => part === '' || part.includes('.'))) return
    const name = parts.join('.')
    const known = found.get(name)
    if (known === undefined ? found.size < MAX_NAMES : known === 'condition') found.set(name, kind)
  }
  const read = (expression: Expression, kind: TemplateName['kind'], place: Place): void => {
    if (expression.kind === 'path') note(expression, kind, place)
    else if (expression.kind === 'call') for (const value of expression.values) read(value, kind, place)
  }
  const walk = ({ nodes }: Program, place: Place): void => {
    for (const node of nodes) {
      if (node.kind === 'output') read(node.value, 'text', place)
      if (node.kind !== 'block' || node.name === 'with') continue
      const goesIn = node.name === 'each' || node.name === 'section'
      for (const value of node.value) read(value, goesIn ? 'block' : 'condition', place)
      const made = new Set([...place.made, ...node.program.names])
      walk(node.program, goesIn ? { depth: place.depth + 1, made } : place)
      if (node.otherwise) walk(node.otherwise, place)
    }
  }
  for (const program of programs) walk(program, { depth: 0, made: new Set() })
  return [...found].map(([name, kind]) => ({ name, kind }))
}
