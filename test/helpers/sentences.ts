import { globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { fileURLToPath } from 'node:url'
import { parse } from 'acorn'

/** A text that people read. */
export interface Sentence {
  readonly kind: Kind
  /** "packages/core/src/platform/error-table.ts:17" */
  readonly place: string
  /** Expressions in a template are shown as {…}. */
  readonly text: string
}

/** `text` is a string of several words whose use is not recognized: often a problem that a function returns. */
type Kind = 'error' | 'help' | 'setting' | 'api' | 'log' | 'text'

type Node = Readonly<Record<string, unknown>> & { readonly type: string; readonly start: number; readonly end: number }

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const LOG_METHODS = new Set(['debug', 'info', 'warn', 'error', 'fatal'])
const ERROR_FUNCTIONS = new Set(['row', 'rule', 'invalidParameter', 'refuse'])
const ERROR_PROPERTIES = new Set(['problem', 'sentence', 'message'])
const API_PROPERTIES = new Set(['description', 'takes', 'gives'])
const PROTOCOL_OR_SQL = /\\r\\n|-src |::|;\s*\w+=|\w\{\w|^isolation |^(?:select|insert|update|delete|drop|comment on) /
const SETTINGS_FILE = 'packages/core/src/platform/config/settings.ts'

/** Returns all texts in the sources of the packages: errors, help of the CLI, settings, OpenAPI and log messages. */
export function sentences(): Sentence[] {
  const files = globSync('packages/*/src/**/*.ts', { cwd: ROOT }).filter((file) => !file.endsWith('.d.ts'))
  return files.sort().flatMap(sentencesIn)
}

function sentencesIn(file: string): Sentence[] {
  // Types are replaced by spaces, so positions are those of the file.
  const code = stripTypeScriptTypes(readFileSync(`${ROOT}/${file}`, 'utf8'))
  const found: Sentence[] = []
  const visit = (value: unknown, kind: Kind): void => {
    if (Array.isArray(value)) {
      for (const one of value) visit(one, kind)
    } else if (isNode(value)) {
      const { type } = value
      if (type.startsWith('Import') || type === 'TaggedTemplateExpression') return
      const text = textOf(value, code)
      if (text !== undefined && isRead(text, kind)) {
        found.push({
          kind,
          place: `${file}:${code.slice(0, value.start).split('\n').length}`,
          text: text.replace(/\s+/g, ' '),
        })
      }
      const inside = kindOf(value, file) ?? kind
      for (const [key, one] of Object.entries(value)) if (key !== 'key') visit(one, inside)
    }
  }
  visit(parse(code, { ecmaVersion: 'latest', sourceType: 'module' }), 'text')
  return found
}

/** Returns the kind of the texts in a node; undefined if it does not determine one. */
function kindOf(node: Node, file: string): Kind | undefined {
  if (node.type === 'NewExpression' && /(?:Error|Refusal)$/.test(nameOf(node.callee))) return 'error'
  if (node.type === 'CallExpression') {
    const callee = node.callee as Node
    if (callee.type === 'MemberExpression' && LOG_METHODS.has(nameOf(callee.property))) return 'log'
    if (ERROR_FUNCTIONS.has(nameOf(callee))) return 'error'
  }
  if (node.type === 'Property') {
    const name = nameOf(node.key)
    if (file === SETTINGS_FILE && name === 'meaning') return 'setting'
    if (name === 'summary') return file.startsWith('packages/cli/') ? 'help' : 'api'
    if (API_PROPERTIES.has(name)) return 'api'
    if (ERROR_PROPERTIES.has(name)) return 'error'
  }
  return undefined
}

/** Returns the text of a string or template; undefined for other nodes. */
function textOf(node: Node, code: string): string | undefined {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined
  if (node.type !== 'TemplateLiteral') return undefined
  return code.slice(node.start + 1, node.end - 1).replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, '{…}')
}

/** Whether a string is a text; other strings are values. Without a recognized kind, a text has at least three words. */
function isRead(text: string, kind: Kind): boolean {
  if (kind !== 'text') return /[A-Za-z]{2} \S/.test(text)
  return /^\W{0,2}(?:\{…\}|[A-Za-z]\S*) \S+ \S+/.test(text) && !PROTOCOL_OR_SQL.test(text)
}

function nameOf(node: unknown): string {
  if (!isNode(node)) return ''
  return typeof node.name === 'string' ? node.name : typeof node.value === 'string' ? node.value : ''
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'
}

if (import.meta.main) {
  process.removeAllListeners('warning')
  const all = sentences()
  for (const kind of ['error', 'help', 'setting', 'api', 'log', 'text'] as const) {
    for (const { place, text } of all.filter((one) => one.kind === kind)) console.log(`${kind}\t${place}\t${text}`)
  }
}
