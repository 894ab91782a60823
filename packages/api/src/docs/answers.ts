import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { OPERATIONS as OPERATOR } from '../operator/operations.ts'
import { OPERATIONS as V3 } from '../v3/operations.ts'
import type { Schema } from './fields.ts'

/** Parts of the record of test/api/recorded-answers.ts; `npm run docs` writes them. */
const RECORDS = ['v3-mail', 'v3', 'operator'] as const
/** Objects that an example shows of a list. */
const MAX_OBJECTS = 2
/** Characters of an example beyond which it shows one object of each list. */
const MAX_LENGTH = 1200
/** Texts and numbers that an example shows of a list. */
const MAX_SCALARS = 4

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/** A call that succeeded, as it is recorded. */
interface Entry {
  readonly title: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly body: Json
}

interface Operation {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly status: number
}

/** Operations whose success has a body, by the API. */
export const ANSWERING: Readonly<Record<'v3' | 'operator', readonly Operation[]>> = {
  v3: V3.filter(({ status, name }) => status !== 204 && status !== 400 && name !== 'sendMail').map((one) => ({
    ...one,
    path: `/v3${one.path}`,
  })),
  operator: OPERATOR.map((one) => ({ ...one, path: `/operator/v1${one.path}`, status: 200 })),
}

/** A success that the tests have recorded, with the schema of all that they have. */
export interface RecordedAnswer {
  readonly schema: Schema
  readonly example: Json
}

/** Returns for each operation, by API and name, an example and the schema of all its recorded answers. */
export function recordedAnswers(): Readonly<Record<string, Readonly<Record<string, RecordedAnswer>>>> {
  const entries = RECORDS.flatMap(entriesOf)
  return Object.fromEntries(
    Object.entries(ANSWERING).map(([api, operations]) => {
      const byOperation = Map.groupBy(entries, (entry) => owner(entry, operations))
      return [api, Object.fromEntries(operations.flatMap((one) => answerOf(one, byOperation.get(one) ?? [])))]
    }),
  )
}

function answerOf({ name, status }: Operation, entries: readonly Entry[]) {
  const own = entries.filter((entry) => entry.status === status)
  if (own.length === 0) return []
  const bodies = own.map(({ body }) => body)
  // The calls without mistakes have only the operation's name, or that of a setting or list.
  const plain = own.filter(({ title }) => title === name || /^(view|list|change) \w+$/.test(title))
  const best = [plain, own].map(richestOf).find((one) => wealth(one) > 0) ?? bodies[0] ?? null
  const example = shortened(best, MAX_OBJECTS)
  const isLong = JSON.stringify(example).length > MAX_LENGTH
  return [[name, { schema: schemaOf(bodies), example: isLong ? shortened(best, 1) : example }] as const]
}

function richestOf(entries: readonly Entry[]): Json {
  return entries.map(({ body }) => body).reduce<Json>((a, b) => (wealth(b) > wealth(a) ? b : a), null)
}

/** Of two operations whose paths match, that with fewer parameters. */
function owner({ method, path }: Entry, operations: readonly Operation[]): Operation | undefined {
  const parts = path.split('/')
  const fitting = operations.filter((one) => one.method === method && fits(one.path.split('/'), parts))
  return fitting.sort((a, b) => a.path.split(':').length - b.path.split(':').length)[0]
}

function fits(pattern: readonly string[], parts: readonly string[]): boolean {
  return pattern.length === parts.length && pattern.every((part, at) => part.startsWith(':') || part === parts[at])
}

function entriesOf(part: string): Entry[] {
  const text = readFileSync(new URL(`recorded/${part}.txt`, import.meta.url), 'utf8')
  return text
    .split('\n\n# ')
    .slice(1)
    .flatMap((entry) => {
      const [title = '', call = '', answered = '', ...rest] = entry.split('\n')
      const [, method = '', path = ''] = /^> ([A-Z]+) ((?:<[\w ]+>|[^ <?])+)/.exec(call) ?? []
      const status = answered.slice('< '.length)
      const body = rest.find((line) => !line.startsWith('< ')) ?? ''
      if (!status.startsWith('2') || !/^[[{]/.test(body)) return []
      return [{ title, method, path, status: Number(status), body: JSON.parse(filled(body)) as Json }]
    })
}

/** Puts plausible values for those that differ from run to run. */
function filled(body: string): string {
  const counts = new Map<string, number>()
  const known = new Map<string, string>()
  return body
    .replaceAll('http://<receiver>/hook', 'https://shop.example/hooks')
    .replaceAll(/(v3|operator)-calls/g, 'ship')
    .replaceAll('https://go.relay.test', 'https://mail.ship.example')
    .replace(/<([^<>]+)>/g, (whole, name: string) => {
      const [kind = ''] = name.split(' ')
      const value = known.get(name) ?? replacementOf(kind, name, (counts.get(kind) ?? 0) + 1)
      if (value === undefined) return whole
      if (!known.has(name)) counts.set(kind, (counts.get(kind) ?? 0) + 1)
      known.set(name, value)
      return value
    })
}

/** Times start here. */
const NOW = Date.parse('2026-03-04T12:00:05Z')
const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, min: 60_000 }

function replacementOf(kind: string, name: string, number: number): string | undefined {
  const hex = createHash('sha256').update(`${kind} ${number}`).digest('hex')
  const letters = createHash('sha512').update(`${kind} ${number}`).digest('base64').replaceAll(/[+/=]/g, '')
  switch (kind) {
    case 'now':
      return timeOf(name)
    case 'first':
      return name === 'first of this month' ? '2026-03-01' : '2026-04-01'
    case 'in':
      return String(NOW / 1000 + 3600)
    case 'message':
      return letters.slice(0, 22)
    case 'seconds':
      return '0.4'
    case 'milliseconds':
      return '7199000'
    case 'key':
      return `pr_${letters.slice(0, 33)}`
    case 'prefix':
      return `pr_${letters.slice(0, 6)}`
    case 'batch':
      return hex.slice(0, 24)
    case 'token':
      return `MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE${letters.repeat(2).slice(0, 86)}==`
    case 'tag':
      return hex.slice(0, 6)
    case 'hex':
      return hex.slice(0, 32)
    case 'uuid':
      return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-a$4-$5')
    case 'event':
    case 'number':
      return String(1000 + number)
  }
  return undefined
}

/** `name` is such as "now + 24 h with a fractionZ". */
function timeOf(name: string): string {
  const [, sign = '+', count = '0', unit = 'h'] = /^now(?: ([+-]) (\d+) (h|min))?/.exec(name) ?? []
  const time = NOW + Number(`${sign}${count}`) * (UNITS[unit] ?? 0)
  if (name.endsWith('in milliseconds')) return String(time)
  if (name.endsWith('in seconds')) return String(time / 1000)
  const iso = new Date(time).toISOString()
  if (name.endsWith('in a header')) return new Date(time).toUTCString().replace('GMT', '+0000')
  const clock = iso.slice(0, 19).replace('T', name.includes('with a blank') ? ' ' : 'T')
  return `${clock}${name.includes('with a fraction') ? '.482' : ''}${name.endsWith('Z') ? 'Z' : ''}`
}

const isObject = (value: Json): value is { readonly [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isList = (value: Json): value is readonly Json[] => Array.isArray(value)

/** Keeps the objects of lists that have most values, in their order. */
function shortened(value: Json, most: number): Json {
  if (isList(value)) {
    const richest = [...value].sort((a, b) => wealth(b) - wealth(a)).slice(0, most)
    const kept = value.some(isObject) ? value.filter((one) => richest.includes(one)) : value.slice(0, MAX_SCALARS)
    return kept.map((one) => shortened(one, most))
  }
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shortened(one, most)]))
}

/** Number of values that say something. */
function wealth(value: Json): number {
  if (isList(value)) return value.reduce<number>((sum, one) => sum + wealth(one), 0)
  if (isObject(value)) return wealth(Object.values(value))
  return value ? 1 : 0
}

/** Returns a schema that all these values fit. */
function schemaOf(values: readonly Json[]): Schema {
  const kinds = Map.groupBy(values, kindOf)
  if (kinds.has('number') && kinds.has('integer')) {
    kinds.set('number', [...(kinds.get('number') ?? []), ...(kinds.get('integer') ?? [])])
    kinds.delete('integer')
  }
  const nothing = kinds.delete('null')
  const shapes = [...kinds].map(([type, own]): Schema => {
    if (type === 'array') return { type, items: schemaOf(own.filter(isList).flat()) }
    if (type === 'object') return { type, properties: propertiesOf(own.filter(isObject)) }
    return { type }
  })
  if (nothing) shapes.push({ type: 'null' })
  return shapes.length > 1 ? { anyOf: shapes } : (shapes[0] ?? {})
}

function propertiesOf(objects: readonly { readonly [name: string]: Json }[]): Readonly<Record<string, Schema>> {
  const names = [...new Set(objects.flatMap((one) => Object.keys(one)))]
  return Object.fromEntries(
    names.map((name) => [name, schemaOf(objects.map((one) => one[name]).filter((one) => one !== undefined))]),
  )
}

function kindOf(value: Json): string {
  if (value === null) return 'null'
  if (isList(value)) return 'array'
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value
}
