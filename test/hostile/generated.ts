import type { Operation as V2Operation } from '../../packages/api/src/v2/operation.ts'
import { OPERATIONS as V2 } from '../../packages/api/src/v2/operations.ts'
import type { Operation as V3Operation } from '../../packages/api/src/v3/operation.ts'
import { OPERATIONS as V3 } from '../../packages/api/src/v3/operations.ts'
import type { Row } from './row.ts'
import { least, leastV3, type Stage } from './stage.ts'
import { fill, kB, MB } from './text.ts'

/**
 * Inputs made from the schemas of the operations: in each list and map, as many of the cheapest elements as a body of each size holds, and in each text
 * the characters that cost most. Cost is in what is made of elements, not in their octets.
 */
const SIZES = [10 * kB, 60 * kB, 250 * kB, 5 * MB] as const
/** Of texts; longer ones are in the other rows. */
const TEXT_SIZES = SIZES.slice(0, 3)
/** Milliseconds of processor time of the main loop for one input. */
const MOST_MS = 25

/** A sample for `npm test`. */
const QUICK = new Set(['v3 mail/send map headers', 'v2 sendEmail map personalizations.0.attributes'])

const NESTED = `${'['.repeat(40)}${']'.repeat(40)}`
const ELEMENTS = ['{}', '""', '0', 'null', '[]', NESTED] as const
const UNITS = [
  ',',
  '<',
  '<a href="',
  '[%a%]',
  '[%',
  '&#1;',
  '%41',
  '{{a}}',
  '{{#',
  'é',
  '"',
  '\\',
  '@',
  '=?utf-8?Q?',
  '\n',
] as const

type Path = readonly (string | number)[]
interface Place {
  readonly path: Path
  readonly kind: 'list' | 'map' | 'text'
}

interface Schema {
  readonly type?: string
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: unknown
}

/** The places of a schema, each once; of a list, those in its first element. */
function placesOf(schema: Schema, path: Path = []): Place[] {
  return (schema.anyOf ?? [schema]).flatMap((one): Place[] => {
    if (one.anyOf) return placesOf(one, path)
    if (one.type === 'array') return [{ path, kind: 'list' }, ...(one.items ? placesOf(one.items, [...path, 0]) : [])]
    if (one.type === 'string') return [{ path, kind: 'text' }]
    if (one.type !== 'object') return []
    const inside = Object.entries(one.properties ?? {}).flatMap(([name, own]) => placesOf(own, [...path, name]))
    return typeof one.additionalProperties === 'object' ? [{ path, kind: 'map' }, ...inside] : inside
  })
}

/** Takes the place of a value in a body, which is then written at once. */
const MARK = '\u2007here\u2007'

/** The JSON of a body with this JSON at a place. */
function bodyWith(body: object, path: Path, json: string): string {
  const whole = structuredClone(body) as Record<string | number, unknown>
  let at = whole
  for (const [depth, step] of path.slice(0, -1).entries()) {
    const next = at[step]
    if (typeof next !== 'object' || next === null) at[step] = typeof path[depth + 1] === 'number' ? [] : {}
    at = at[step] as Record<string | number, unknown>
  }
  const last = path.at(-1)
  if (last === undefined) return json
  at[last] = MARK
  return JSON.stringify(whole).replace(JSON.stringify(MARK), () => json)
}

function list(element: string, octets: number): string {
  return `[${fill(`${element},`, octets - (octets % (element.length + 1)))}${element}]`
}

function map(octets: number): string {
  const members: string[] = []
  for (let length = 0; length < octets; length += members.at(-1)?.length ?? 0)
    members.push(`"${members.length.toString(36)}":""`)
  return `{${members.join(',')}}`
}

function jsonsFor({ kind }: Place): (() => string)[] {
  if (kind === 'map') return SIZES.map((octets) => () => map(octets))
  if (kind === 'list') return SIZES.flatMap((octets) => ELEMENTS.map((element) => () => list(element, octets)))
  return TEXT_SIZES.flatMap((octets) => UNITS.map((unit) => () => JSON.stringify(fill(unit, octets))))
}

interface Call {
  readonly name: string
  /** A place of no schema is among them: what a call does not know. */
  readonly places: readonly Place[]
  send(stage: Stage, place: Place, json: string): Promise<string>
}

/** As many inputs as a row has. */
export function inputsOf(place: Place): number {
  return jsonsFor(place).length
}

function rowsOf({ name, places, send }: Call): Row[] {
  const once = new Map(places.map((place) => [`${place.kind} ${place.path.join('.')}`, place]))
  return [...once].map(([where, place]) => ({
    door: 'api',
    name: `generated: ${name} ${where}`,
    most: MOST_MS,
    inputs: inputsOf(place),
    ...(QUICK.has(`${name} ${where}`) ? { quick: true as const } : {}),
    async attack(stage) {
      const answers = new Map<string, number>()
      for (const json of jsonsFor(place)) {
        const answer = (await send(stage, place, json())).slice(0, 7)
        answers.set(answer, (answers.get(answer) ?? 0) + 1)
      }
      // A fault of ours is what the row is about, whatever the others were answered.
      const worst = [...answers.keys()].find((answer) => answer.startsWith('500'))
      return worst ?? [...answers].map(([answer, count]) => `${count}x ${answer}`).join(', ')
    },
  }))
}

const UNKNOWN: Place = { path: ['unknown'], kind: 'list' }

function callOfV2(operation: V2Operation): Call {
  const { name, routes, input, example, submits } = operation
  const [path = '', method = 'POST'] =
    routes
      .flatMap(([url, ...methods]) => methods.map((one) => [url, String(one)] as const))
      .find(([, one]) => one === 'POST') ?? []
  const values = example.input as Readonly<Record<string, unknown>>
  const ofPath = [...path.matchAll(/:(\w+)/g)].map(([, parameter = '']) => parameter)
  const url = path.replace(/:(\w+)/g, (_, parameter: string) => encodeURIComponent(String(values[parameter] ?? 1)))
  return {
    name: `v2 ${name}`,
    places: [...placesOf(input as Schema).filter(({ path: [first] }) => !ofPath.includes(String(first))), UNKNOWN],
    send: (stage, place, json) =>
      stage.call(`/v2${url}`, { method, body: bodyWith(submits ? least(stage.sender) : values, place.path, json) }),
  }
}

function callOfV3({ name, method, path, body }: V3Operation): Call {
  const url = path.replace(/:\w+/g, '1')
  return {
    name: `v3 ${name}`,
    places: [...placesOf((body ?? {}) as Schema), UNKNOWN],
    send: (stage, place, json) => stage.v3(url, { method, body: bodyWith({}, place.path, json) }),
  }
}

const one = (...path: Path): Path => ['personalizations', 0, ...path]
const of = (kind: Place['kind'], ...paths: readonly Path[]): Place[] => paths.map((path) => ({ path, kind }))

/** v3's mail has rules instead of a schema. */
const V3_MAIL: Call = {
  name: 'v3 mail/send',
  places: [
    ...of('list', ['personalizations'], one('to'), one('cc'), one('bcc'), ['reply_to_list'], ['content']),
    ...of('list', ['attachments'], ['categories'], ['asm', 'groups_to_display'], one('dynamic_template_data', 'a')),
    ...of('map', ['headers'], ['sections'], ['custom_args'], one('headers'), one('substitutions')),
    ...of('map', one('dynamic_template_data'), one('custom_args')),
    ...of('text', ['subject'], ['content', 0, 'value'], ['content', 0, 'type'], ['from', 'email'], ['from', 'name']),
    ...of(
      'text',
      one('to', 0, 'email'),
      one('to', 0, 'name'),
      ['reply_to', 'email'],
      ['headers', 'X-A'],
      ['headers', 'Sender'],
    ),
    ...of('text', ['custom_args', 'a'], ['sections', 'a'], one('substitutions', 'a'), ['template_id'], ['batch_id']),
    UNKNOWN,
  ],
  send: (stage, place, json) => stage.v3('/mail/send', { body: bodyWith(leastV3(stage.sender), place.path, json) }),
}

/** Changes of the account itself, after which no other row would get in. */
const NOT_CALLED = new Set(['deleteSubaccount', 'revokeKey', 'rotateKey'])

export const GENERATED: readonly Row[] = [
  ...V2.filter(({ takes, name }) => !takes && !NOT_CALLED.has(name)).map(callOfV2),
  ...V3.filter(({ body, name }) => body !== undefined && !NOT_CALLED.has(name)).map(callOfV3),
  V3_MAIL,
].flatMap(rowsOf)
