import { createHash } from 'node:crypto'
import { EDITABLE_LIMITS, tooDeepAt } from '@postrider/core'
import { type Form, field } from '../../frame/call.ts'
import { jsonProblem, placeAt } from './json-problem.ts'
import type { TemplateKind } from './template-kinds.ts'

/** Fields of the names that a template takes from its test data begin with this. */
const FIELD = 'value.'
/** The field with the digest of the JSON that the page showed. */
export const DIGEST_FIELD = 'shown'

type Values = Readonly<Record<string, unknown>>
type Read =
  | { readonly ok: true; readonly values: Values; readonly texts: Readonly<Record<string, string>> }
  | {
      readonly ok: false
      readonly why: 'notJson' | 'tooDeep'
      readonly problem: { readonly line: number; readonly column: number }
    }

/** Reads test data: its values, and all but lists and objects as texts. Anything but an object has none. */
export function valuesOf(json: string): Read {
  let data: unknown
  try {
    data = json === '' ? {} : JSON.parse(json)
  } catch {
    return { ok: false, why: 'notJson', problem: jsonProblem(json) }
  }
  const deep = tooDeepAt(json, EDITABLE_LIMITS.testDataDepth)
  if (deep !== undefined) return { ok: false, why: 'tooDeep', problem: placeAt(json, deep) }
  const values = isObject(data) ? data : {}
  const scalars = Object.entries(values).filter(([, value]) => value !== null && typeof value !== 'object')
  return { ok: true, values, texts: Object.fromEntries(scalars.map(([name, value]) => [name, String(value)])) }
}

export function fieldOf(name: string): string {
  return `${FIELD}${name}`
}

export function digestOf(json: string): string {
  return createHash('sha256').update(json).digest('base64url').slice(0, 16)
}

/** The value of a name as a text; undefined for a list or an object; empty if it has none. */
export function textAt(values: Values, kind: TemplateKind, name: string): string | undefined {
  const value = partsOf(kind, name).reduce<unknown>(
    (at, part) => (isObject(at) && Object.hasOwn(at, part) ? at[part] : undefined),
    values,
  )
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? undefined : String(value)
}

/**
 * Returns the test data of a submitted form: those of the JSON, with what was entered in the fields of the names. Who changed the JSON meant the
 * JSON: a script keeps it and the fields alike, and without scripts only one of them can be meant.
 */
export function testDataOf(form: Form, kind: TemplateKind, json: string): string {
  if (field(form, DIGEST_FIELD) !== digestOf(json)) return json
  const read = valuesOf(json)
  if (!read.ok) return json
  const changed: Record<string, unknown> = structuredClone(read.values)
  let isChanged = false
  for (const [key, entered] of Object.entries(form)) {
    if (!key.startsWith(FIELD) || typeof entered !== 'string') continue
    const name = key.slice(FIELD.length)
    const before = textAt(changed, kind, name)
    if (before === undefined || before === entered.trim()) continue
    isChanged = setAt(changed, partsOf(kind, name), entered.trim()) || isChanged
  }
  return isChanged ? JSON.stringify(changed, null, 2) : json
}

/** The names of merge tags may have dots; in those of dynamic templates, a dot leads into an object. */
function partsOf(kind: TemplateKind, name: string): readonly string[] {
  return kind === 'merge' ? [name] : name.split('.', 20)
}

/** Sets a value; numbers and switches stay such. Returns whether the path has a place in the data. */
function setAt(values: Record<string, unknown>, parts: readonly string[], text: string): boolean {
  let at = values
  for (const part of parts.slice(0, -1)) {
    const next = Object.hasOwn(at, part) ? at[part] : {}
    if (!isObject(next) || part === '__proto__') return false
    at[part] = next
    at = next
  }
  const last = parts.at(-1) as string
  if (last === '__proto__') return false
  const before = Object.hasOwn(at, last) ? at[last] : undefined
  at[last] = likeBefore(before, text)
  return true
}

function likeBefore(before: unknown, text: string): unknown {
  if (typeof before === 'number' && text !== '' && String(Number(text)) === text) return Number(text)
  if (typeof before === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
