import { globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { parse, type Token } from 'acorn'

/** A regular expression of ours. */
export interface Pattern {
  readonly file: string
  /** As it is written: `/a+/i`. */
  readonly written: string
  readonly source: string
  readonly flags: string
}

const ROOT = new URL('../../../', import.meta.url)

/** Every regular expression literal of the packages, in the order of files, each once a file. Node strips the types, acorn reads. */
export function patternsOf(files = globSync('packages/*/src/**/*.ts', { cwd: ROOT }).sort()): Pattern[] {
  return files.filter((file) => !file.endsWith('.d.ts')).flatMap(patternsIn)
}

function patternsIn(file: string): Pattern[] {
  const tokens: Token[] = []
  const code = stripTypeScriptTypes(readFileSync(new URL(file, ROOT), 'utf8'))
  const program = parse(code, { ecmaVersion: 'latest', sourceType: 'module', onToken: tokens })
  const found = new Map<string, Pattern>()
  // The types of acorn leave out what a token is worth.
  for (const { type, value } of tokens as (Token & { value: unknown })[]) {
    if (type.label !== 'regexp') continue
    const { pattern: source, flags } = value as { pattern: string; flags: string }
    found.set(`/${source}/${flags}`, { file, written: `/${source}/${flags}`, source, flags })
  }
  for (const made of madeAtRunTime(program, code)) {
    found.set(made, { file, written: made, source: '', flags: '' })
  }
  return [...found.values()]
}

/** `new RegExp(...)` and `RegExp(...)`: what they are made of can't be read here, so they are listed as they are written. */
function madeAtRunTime(node: unknown, code: string): string[] {
  if (typeof node !== 'object' || node === null) return []
  if (Array.isArray(node)) return node.flatMap((one) => madeAtRunTime(one, code))
  const { type, callee, start, end } = node as { type?: string; callee?: { name?: string }; start: number; end: number }
  const made = (type === 'NewExpression' || type === 'CallExpression') && callee?.name === 'RegExp'
  const inside = Object.values(node).flatMap((one) => madeAtRunTime(one, code))
  return made ? [code.slice(start, end), ...inside] : inside
}
