type Parse = (text: string) => unknown
type Serialize = (value: unknown) => unknown

/**
 * The object identifiers of built-in types and of their arrays, which are the same in every database: bool, bytea, "char", name, int8, int2,
 * int4, text, oid, xid, json, cidr, float4, float8, inet, bpchar, varchar, date, time, timestamp, timestamptz, interval, numeric, regclass,
 * uuid, jsonb, xid8. The driver would ask each new connection for all array types: 600 rows. The schema has no types of its own.
 */
const ARRAY_TYPES = [
  [16, 1000],
  [17, 1001],
  [18, 1002],
  [19, 1003],
  [20, 1016],
  [21, 1005],
  [23, 1007],
  [25, 1009],
  [26, 1028],
  [28, 1011],
  [114, 199],
  [650, 651],
  [700, 1021],
  [701, 1022],
  [869, 1041],
  [1042, 1014],
  [1043, 1015],
  [1082, 1182],
  [1083, 1183],
  [1114, 1115],
  [1184, 1185],
  [1186, 1187],
  [1700, 1231],
  [2205, 2210],
  [2950, 2951],
  [3802, 3807],
  [5069, 271],
] as const

/** Has the driver read and write arrays of the built-in types, element by element as it does single values. */
export function addArrayTypes(handlers: {
  parsers: Record<number, Parse>
  serializers: Record<number, Serialize>
}): void {
  const { parsers, serializers } = handlers
  for (const [element, array] of ARRAY_TYPES) {
    const parse: Parse = (text) => parseArray(text, parsers[element])
    const serialize: Serialize = (value) => serializeArray(value, serializers[element])
    parsers[array] = parse
    serializers[array] = serialize
  }
}

/** Parses the text of an array (PostgreSQL documentation, 8.15.6), whose elements may be arrays. */
export function parseArray(text: string, parse?: Parse): unknown[] {
  if (text.includes('"') || text.includes('{', 1)) return parseElements(text, { at: 1 }, parse)
  return text === '{}'
    ? []
    : text
        .slice(1, -1)
        .split(',')
        .map((element) => parseElement(element, parse))
}

function parseElement(text: string, parse: Parse | undefined): unknown {
  if (text === 'NULL') return null
  return parse ? parse(text) : text
}

/** Parses the elements from `place.at`, behind the opening brace, and moves it behind the closing one. */
function parseElements(text: string, place: { at: number }, parse: Parse | undefined): unknown[] {
  const elements: unknown[] = []
  while (place.at < text.length) {
    const start = place.at++
    const first = text[start]
    if (first === '}') break
    if (first === ',') continue
    if (first === '{') elements.push(parseElements(text, place, parse))
    else if (first === '"') {
      const quoted = readQuoted(text, place)
      elements.push(parse ? parse(quoted) : quoted)
    } else {
      while (place.at < text.length && text[place.at] !== ',' && text[place.at] !== '}') place.at++
      elements.push(parseElement(text.slice(start, place.at), parse))
    }
  }
  return elements
}

function readQuoted(text: string, place: { at: number }): string {
  let value = ''
  let from = place.at
  for (; place.at < text.length && text[place.at] !== '"'; place.at++) {
    if (text[place.at] !== '\\') continue
    value += text.slice(from, place.at)
    from = ++place.at
  }
  return value + text.slice(from, place.at++)
}

/**
 * Returns the text of an array, whose elements are arrays if the first one is; anything else is returned as it is. Throws if an element is
 * undefined.
 */
export function serializeArray(value: unknown, serialize: Serialize = String): unknown {
  if (!Array.isArray(value)) return value
  const write = Array.isArray(value[0]) ? serializeArray : serializeElement
  return `{${value.map((element) => write(element, serialize)).join()}}`
}

function serializeElement(element: unknown, serialize: Serialize): string {
  if (element === undefined) throw new Error('an element of an array is undefined')
  return element === null ? 'null' : `"${escapeElement(String(serialize(element)))}"`
}

function escapeElement(text: string): string {
  if (!text.includes('\\') && !text.includes('"')) return text
  return text.length < 4096 ? text.replaceAll('\\', '\\\\').replaceAll('"', '\\"') : escapeLong(text)
}

/** Each replaced match takes memory of its own: for 9 MB of backslashes that was 780 MB. */
function escapeLong(text: string): string {
  const from = Buffer.from(text)
  const to = Buffer.allocUnsafe(from.length * 2)
  let length = 0
  for (const byte of from) {
    if (byte === 0x5c || byte === 0x22) to[length++] = 0x5c
    to[length++] = byte
  }
  return to.toString('utf8', 0, length)
}
