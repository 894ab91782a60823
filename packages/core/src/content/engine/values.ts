import type { Comparison } from './syntax.ts'

const DEEPEST = 64

/** What of the data counts as nothing: as the standard `#if`, so that `"0"` and negative numbers count as something. */
export function isTruthy(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value)
}

/** A member of the data: only what stands in it, nothing that JavaScript adds to every object. */
export function memberOf(value: unknown, name: string): unknown {
  if (typeof value === 'string') return name === 'length' ? value.length : undefined
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Record<string, unknown>)[name]
}

/** A value as text; a list's items with commas between, as JavaScript writes them. Never runs anything of the data. */
export function textOf(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value
  if (value === null || value === undefined || depth > DEEPEST) return ''
  if (Array.isArray(value)) return value.map((item) => textOf(item, depth + 1)).join(',')
  return typeof value === 'object' ? '[object Object]' : String(value)
}

export function lengthOf(value: unknown): number {
  return typeof value === 'string' || Array.isArray(value) ? value.length : 0
}

export function compare(comparison: Comparison, values: readonly unknown[]): boolean {
  switch (comparison) {
    case 'equals':
      return areEqual(values[0], values[1])
    case 'notEquals':
      return !areEqual(values[0], values[1])
    case 'greaterThan':
      return numberOf(values[0]) > numberOf(values[1])
    case 'lessThan':
      return numberOf(values[0]) < numberOf(values[1])
    case 'and':
      return values.every(isTruthy)
    case 'or':
      return values.some(isTruthy)
  }
}

/** 3 equals "3", true equals what counts as something, missing equals null; lists and objects equal nothing. */
function areEqual(a: unknown, b: unknown): boolean {
  if ((a ?? null) === (b ?? null)) return true
  if (typeof a === 'boolean' && typeof b !== 'boolean') return a === asFlag(b)
  if (typeof b === 'boolean' && typeof a !== 'boolean') return b === asFlag(a)
  if ((a ?? null) === null || (b ?? null) === null || typeof a === typeof b) return false
  return numberOf(a) === numberOf(b)
}

function asFlag(value: unknown): boolean {
  return value === 'false' ? false : isTruthy(value)
}

/** NaN for what is no number, which is neither greater nor less than anything. */
function numberOf(value: unknown): number {
  return typeof value === 'object' || value === undefined ? Number.NaN : Number(value)
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#x27;',
  '`': '&#x60;',
  '=': '&#x3D;',
}

export function escapeHtml(text: string): string {
  return /[&<>"'`=]/.test(text) ? text.replace(/[&<>"'`=]/g, (char) => ENTITIES[char] as string) : text
}
