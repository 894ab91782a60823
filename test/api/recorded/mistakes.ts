type Fields = Readonly<Record<string, unknown>>

/** What a field gets in place of its value: an object, and a text that is hardly any field's. */
const OBJECT = { x: 1 }
const TEXT = 'no such thing'
const NUMBER = 7

type Mistake = readonly [title: string, input: Fields]

/** Returns the body with each of its fields left out and each of a wrong type, with a title. */
export function mistakesIn(body: Fields): Mistake[] {
  return Object.keys(body).flatMap((name): Mistake[] => {
    const { [name]: value, ...others } = body
    const wrong = typeof value === 'string' ? NUMBER : TEXT
    return [
      [`without ${name}`, others],
      [`${name} as object`, { ...body, [name]: OBJECT }],
      [`${name} as ${typeof wrong === 'string' ? 'text' : 'number'}`, { ...body, [name]: wrong }],
    ]
  })
}

/** Returns the query with none of its fields, and with each of them a text that is hardly any field's. */
export function mistakesInQuery(query: Fields): Mistake[] {
  const names = Object.keys(query)
  if (names.length === 0) return []
  return [['without a query', {}], ...names.map((name): Mistake => [`a wrong ${name}`, { ...query, [name]: TEXT }])]
}

const UNKNOWN_UUID = '00000000-0000-4000-8000-000000000000'

/** Returns the path parameters with each of them one that does not exist, and one that is no id. */
export function mistakesInPath(params: Fields): Mistake[] {
  return Object.entries(params).flatMap(([name, value]): Mistake[] => [
    [`an unknown ${name}`, { ...params, [name]: unknownFor(String(value)) }],
    [`a wrong ${name}`, { ...params, [name]: TEXT }],
  ])
}

function unknownFor(value: string): string {
  if (/^\d+$/.test(value)) return '999999'
  if (/^(\w+_)?[0-9a-f]{32}$/.test(value)) return value.replace(/[0-9a-f]{32}$/, '0'.repeat(32))
  return value.includes('@') ? 'unknown@harbor.example' : UNKNOWN_UUID
}

/** Returns the path with its parameters and query filled in. */
export function pathOf(pattern: string, params: Fields = {}, query: Fields = {}): string {
  const path = pattern.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])))
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [
      name,
      typeof value === 'object' ? JSON.stringify(value) : String(value),
    ]),
  ).toString()
  return search === '' ? path : `${path}?${search}`
}
