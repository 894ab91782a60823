import type { Comparison } from './syntax.ts'

const MAX_DEPTH = 64

/** Whether a value is truthy as in the standard `#if`: `"0"` and negative numbers are truthy, empty lists are not. */
export function isTruthy(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value)
}

/** Reads a member of the data: only own properties, not those that every JavaScript object inherits. */
export function memberOf(value: unknown, name: string): unknown {
  if (typeof value === 'string') return name === 'length' ? value.length : undefined
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Record<string, unknown>)[name]
}

/** Converts a value to text; lists are joined with commas, as in JavaScript. Never calls methods of the data. */
export function toText(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value
  if (value === null || value === undefined || depth > MAX_DEPTH) return ''
  if (Array.isArray(value)) return value.map((item) => toText(item, depth + 1)).join(',')
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

/** 3 equals "3", true equals truthy values, missing equals null; lists and objects equal nothing of another type. */
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

/** NaN for values that are not numbers, which compare neither greater nor less. */
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
