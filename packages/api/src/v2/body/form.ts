import { BeyondShare, invalidParameter, LIMITS, ServiceError } from '@postrider/core'
import { countValues, newCount, REACHES_FOR_PROTOTYPE, type ValueCount } from '../../http/strict-json.ts'
import { percentDecoded } from './percent.ts'
import { unreadable } from './unreadable.ts'

/** A form parameter: its decoded name and value. */
export type FormField = readonly [name: string, value: string]

/** Limits of a form. Its values are counted like those of JSON: a name with eight brackets counts as nine. */
export const FORM = {
  /** Maximum number of brackets in a name; the API needs four. */
  depth: 8,
  /** Twenty per recipient. */
  parameters: LIMITS.recipients * 20,
} as const

/** Their keys are chosen by the caller, so `attributes[1]` is a key and not an array index. */
const MAPS = new Set(['attributes', 'x-headers'])

type Leaf = string | string[]

class Branch {
  readonly children = new Map<string, Leaf | Branch>()
  #next = 0

  /** Returns the key for a step: `[]` appends to the array, as in PHP. */
  key(step: string): string {
    const key = step === '' ? String(this.#next) : step
    if (PLACE.test(key)) this.#next = Math.max(this.#next, Number(key) + 1)
    return key
  }
}

/** An array index. */
const PLACE = /^(0|[1-9]\d{0,8})$/

/**
 * Splits application/x-www-form-urlencoded text. Throws tooLarge, BeyondShare for more than `share` parameters, and jsonInvalid for escapes that are
 * not UTF-8.
 */
export function formFields(text: string, share = Number.POSITIVE_INFINITY): FormField[] {
  const fields: FormField[] = []
  // Pair by pair: splitting 30 MB of "&" in one call would create 30 million strings before they could be counted.
  const find = (mark: string, from: number): number => {
    const found = text.indexOf(mark, from)
    return found === -1 ? text.length : found
  }
  let equals = -1
  for (let at = 0; at < text.length; ) {
    const stop = find('&', at)
    if (equals < at) equals = find('=', at)
    const nameEnd = Math.min(equals, stop)
    if (fields.length >= share) throw new BeyondShare()
    if (nameEnd > at) addField(fields, decode(text.slice(at, nameEnd)), decode(text.slice(nameEnd + 1, stop)))
    at = stop + 1
  }
  return fields
}

/** Adds a parameter. Throws tooLarge beyond the maximum number of parameters. */
export function addField(fields: FormField[], name: string, value: string): void {
  if (fields.length === FORM.parameters) {
    throw new ServiceError('tooLarge', { values: { limit: `${FORM.parameters} parameters` } })
  }
  fields.push([name, value])
}

/**
 * Builds an object from PHP's bracket notation: `a[b][0]=x` is `{a: {b: ['x']}}`, `a[]=x` appends, and a repeated name makes a
 * list. Indexes need not start at 0 and may have gaps. The time is linear in the number of fields, whatever their names (V24);
 * off-the-shelf parsers took seconds for a form of 10,000 recipients.
 *
 * Throws jsonInvalid (nested too deeply, names that could modify a prototype), tooLarge, parameterInvalid.
 */
export function toObject(fields: readonly FormField[], count: ValueCount = newCount(false)): Record<string, unknown> {
  const root = new Branch()
  for (const [name, value] of fields) countValues(count, put(root, stepsOf(name), name, value))
  return Object.fromEntries([...root.children].map(([name, child]) => [name, plain(child, name)]))
}

function stepsOf(name: string): string[] {
  const steps = bracketsOf(name)
  if (steps.length > FORM.depth) throw unreadable(`nesting exceeds ${FORM.depth} levels`)
  const reaches = steps.some(
    (step, at) => step === '__proto__' || (step === 'prototype' && steps[at - 1] === 'constructor'),
  )
  if (reaches) throw unreadable(REACHES_FOR_PROTOTYPE)
  return steps
}

/**
 * `a[b][]` is a, b and an empty step. A name with brackets in any other arrangement is one step. Scanned byte by byte, since
 * names can have any length.
 */
function bracketsOf(name: string): string[] {
  const first = name.indexOf('[')
  if (first < 1 || !name.endsWith(']') || name.lastIndexOf(']', first) !== -1) return [name]
  const steps = name.slice(first + 1, -1).split('][', FORM.depth)
  return steps.some((step) => /[[\]]/.test(step)) ? [name] : [name.slice(0, first), ...steps]
}

/** Returns the number of values created. */
function put(root: Branch, steps: readonly string[], name: string, value: string): number {
  let branch = root
  let made = 1
  for (const step of steps.slice(0, -1)) {
    const key = branch.key(step)
    const before = branch.children.get(key)
    const child = before ?? new Branch()
    if (!(child instanceof Branch)) throw mixed(name)
    if (!before) {
      branch.children.set(key, child)
      made++
    }
    branch = child
  }
  const { children } = branch
  const key = branch.key(steps.at(-1) ?? '')
  const before = children.get(key)
  if (before instanceof Branch) throw mixed(name)
  if (before === undefined) children.set(key, value)
  else if (typeof before === 'string') children.set(key, [before, value])
  else before.push(value)
  return made
}

function mixed(name: string): ServiceError {
  return invalidParameter(name.slice(0, 100), 'is used both as a value and as an object')
}

function plain(child: Leaf | Branch, name: string): unknown {
  if (!(child instanceof Branch)) return child
  const entries = [...child.children].map(([key, value]): [string, unknown] => [key, plain(value, key)])
  if (MAPS.has(name) || !entries.every(([key]) => PLACE.test(key))) return Object.fromEntries(entries)
  return entries.sort(([a], [b]) => Number(a) - Number(b)).map(([, value]) => value)
}

/** A `%` that does not start an escape is literal, as in browsers. */
function decode(text: string): string {
  const decoded = percentDecoded(text, { stray: 'kept' })
  if (decoded === undefined) throw unreadable('form escapes are not UTF-8')
  return decoded
}
