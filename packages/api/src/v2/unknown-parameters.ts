import { invalidParameter, resembles } from '@postrider/core'
import type { TSchema } from 'typebox'
import { MAX_NAMES } from '../ignored.ts'
import { writtenPlace } from './body/null-elements.ts'
import type { OperationGroup } from './envelope.ts'
import type { Operation } from './operation.ts'

/** For the schema of a call whose effect would be wider without a parameter that was misspelt, and of a read that the mirrored API does not have. */
export const CLOSED = { additionalProperties: false } as const

/** Groups that the mirrored API does not have: no client of it reads them, with parameters that it ignores. */
const OWN_GROUPS: ReadonlySet<OperationGroup> = new Set(['Message', 'Key', 'Audit', 'Account', 'Webhook'])

/** Unknown parameters that are compared with the known ones: 400,000 of them took a minute of processor time. */
const MAX_UNKNOWN = 100

/**
 * Returns the parameters that the operation does not have, which have no effect (contract 1). Throws parameterInvalid where a misspelt one that was
 * ignored would widen the effect of the call, as to all recipients, or its answer: for any if the schema is closed, or the call is a read of our own;
 * for one that is like another if the row says `narrows`, as the mirrored API ignores all others.
 */
export function unknownOf(operation: Operation, given: Readonly<Record<string, unknown>>): readonly string[] {
  const { input, narrows } = operation
  const known = input.properties as Readonly<Record<string, unknown>>
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(known, name))
  if (unknown.length === 0) return unknown
  const isClosed = refusesUnknown(operation)
  if (!isClosed && !narrows) return unknown
  if (unknown.length > MAX_UNKNOWN)
    throw invalidParameter(unknown[0] as string, `is unknown to this call, as ${unknown.length - 1} others are`)
  const names = Object.keys(known)
  for (const name of unknown) {
    const word = plain(name)
    const meant = names.find((one) => plain(one) === word) ?? names.find((one) => resembles(word, plain(one)))
    if (meant !== undefined) throw invalidParameter(name, `is unknown to this call; did you mean ${meant}?`)
    if (isClosed) throw invalidParameter(name, `is unknown to this call, which has ${names.join(', ') || 'none'}`)
  }
  return unknown
}

function refusesUnknown({ input, group, routes }: Operation): boolean {
  const isRead = routes.some(([, ...methods]) => methods.includes('GET'))
  return (input as Kind).additionalProperties === false || (isRead && OWN_GROUPS.has(group))
}

/** `recipient_nos` and `RecipientNos` are alike. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '')
}

/** The members that a schema knows at a place; none where any may be there. */
interface Shape {
  readonly members?: ReadonlyMap<string, Shape>
  readonly of?: Shape
}

interface Kind {
  readonly anyOf?: readonly TSchema[]
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly additionalProperties?: unknown
  readonly items?: TSchema
}

function shapeOf(schema: TSchema): Shape {
  const kinds = ((schema as Kind).anyOf ?? [schema]) as readonly Kind[]
  const object = kinds.find(({ properties, additionalProperties }) => properties && additionalProperties === undefined)
  const items = kinds.find(({ items }) => items && Object.keys(items).length > 0)?.items
  return {
    ...(object
      ? { members: new Map(Object.entries(object.properties ?? {}).map(([name, one]) => [name, shapeOf(one)])) }
      : {}),
    ...(items ? { of: shapeOf(items) } : {}),
  }
}

/**
 * Returns a function that finds the members of a value, at any depth, that the schema does not know: `personalizations[0].recepient`. It stops at one
 * more than the answer names.
 */
export function unknownFinder(schema: TSchema): (value: unknown) => readonly string[] {
  const shape = shapeOf(schema)
  return (value) => {
    const found: string[] = []
    look(value, shape, '', found)
    return found
  }
}

function look(value: unknown, { members, of }: Shape, path: string, found: string[]): void {
  if (typeof value !== 'object' || value === null || found.length > MAX_NAMES) return
  if (Array.isArray(value)) {
    if (of) for (const [at, item] of value.entries()) look(item, of, `${path}[${writtenPlace(value, at)}]`, found)
    return
  }
  if (!members) return
  for (const name in value) {
    const known = members.get(name)
    if (known && !known.members && !known.of) continue
    const place = path === '' ? name : `${path}.${name}`
    if (known) look((value as Record<string, unknown>)[name], known, place, found)
    else found.push(place)
  }
}
