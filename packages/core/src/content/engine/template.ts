import { namesOf, type TemplateName } from './names.ts'
import { parseTemplate } from './parse.ts'
import { MAX_STEPS, Rendering } from './render.ts'
import { Sink, TooMuch } from './sink.ts'
import { type Program, SyntaxProblem } from './syntax.ts'

/** The texts of a dynamic template; each may be missing. */
export interface DynamicTemplate {
  readonly subject?: string | undefined
  readonly html?: string | undefined
  readonly text?: string | undefined
  /** Whether the result lists the names of the template, and those that were output without a value. */
  readonly listNames?: boolean
}
export type TemplatePart = 'subject' | 'html' | 'text'

/** The names of a template, and those that were output without a value. */
export interface ListedNames {
  readonly names: readonly TemplateName[]
  readonly missing: readonly string[]
}

/** The result for one recipient. `failed`: the account's template or data caused an error. */
export type Rendered =
  | ({ readonly kind: 'rendered'; readonly listed?: ListedNames } & Omit<DynamicTemplate, 'listNames'>)
  | { readonly kind: 'failed'; readonly failure: RenderFailure }

export interface RenderFailure {
  readonly why: 'syntax' | 'data' | 'output' | 'steps' | 'time' | 'memory'
  /** Error message for the account; contains nothing of the data. */
  readonly sentence: string
  readonly part?: TemplatePart
  /** Position of a syntax error, counted from 1. */
  readonly line?: number
  readonly column?: number
}

export type CheckedTemplate = { readonly ok: true } | { readonly ok: false; readonly failure: RenderFailure }

/** V26: maximum bytes of the rendered subject and bodies together. */
export const MAX_OUTPUT = 10 * 1024 * 1024

const PARTS: readonly TemplatePart[] = ['subject', 'html', 'text']

export type Compiled =
  | { readonly kind: 'compiled'; readonly programs: ReadonlyMap<TemplatePart, Program> }
  | { readonly kind: 'failed'; readonly failure: RenderFailure }

export function compile(template: DynamicTemplate): Compiled {
  const programs = new Map<TemplatePart, Program>()
  for (const part of PARTS) {
    const text = template[part]
    if (text === undefined) continue
    const parsed = parsePart(text)
    if ('failure' in parsed) return { kind: 'failed', failure: { ...parsed.failure, part } }
    programs.set(part, parsed.program)
  }
  return { kind: 'compiled', programs }
}

/** Checks whether a text is a valid template, and where it is not. Takes linear time, about 50 ms for 1 MB. */
export function checkDynamic(text: string): CheckedTemplate {
  const parsed = parsePart(text)
  return 'failure' in parsed ? { ok: false, failure: parsed.failure } : { ok: true }
}

function parsePart(text: string): { program: Program } | { failure: RenderFailure } {
  try {
    return { program: parseTemplate(text) }
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error
    const { message, line, column } = error
    return { failure: { why: 'syntax', sentence: `line ${line}, column ${column}: ${message}`, line, column } }
  }
}

export type RenderedOctets =
  | { readonly kind: 'rendered'; readonly parts: ReadonlyMap<TemplatePart, Uint8Array>; readonly listed?: ListedNames }
  | { readonly kind: 'failed'; readonly failure: RenderFailure }

/** Renders for one recipient. `json` is the recipient's data, a JSON object. */
export function renderCompiled(compiled: Compiled, json: string, listNames = false): RenderedOctets {
  if (compiled.kind === 'failed') return compiled
  const data: unknown = JSON.parse(json)
  const parts = new Map<TemplatePart, Uint8Array>()
  const missing = new Set<string>()
  let octets = MAX_OUTPUT
  let steps = MAX_STEPS
  try {
    for (const [part, program] of compiled.programs) {
      const sink = new Sink(octets)
      steps = new Rendering(data, sink, steps, listNames ? missing : undefined).run(program)
      const rendered = sink.end()
      octets -= rendered.length
      parts.set(part, rendered)
    }
  } catch (error) {
    if (!(error instanceof TooMuch)) throw error
    return { kind: 'failed', failure: error.what === 'output' ? TOO_LARGE : TOO_MANY_STEPS }
  }
  if (!listNames) return { kind: 'rendered', parts }
  return { kind: 'rendered', parts, listed: { names: namesOf(compiled.programs.values()), missing: [...missing] } }
}

const TOO_LARGE: RenderFailure = { why: 'output', sentence: 'the rendered template is larger than 10 MB' }
const TOO_MANY_STEPS: RenderFailure = {
  why: 'steps',
  sentence: 'the template takes more than two million steps to render',
}
export const TOO_LONG: RenderFailure = { why: 'time', sentence: 'the template takes too long to render' }
export const TOO_MUCH_MEMORY: RenderFailure = {
  why: 'memory',
  sentence: 'the template takes too much memory to render',
}
export const NOT_JSON: RenderFailure = { why: 'data', sentence: 'the template data cannot be written as JSON' }
