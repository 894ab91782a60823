import type { Row } from './row.ts'
import type { Stage } from './stage.ts'
import { fill, kB, MB } from './text.ts'

/** As generated.ts, for the relay: as many of the cheapest fields, addresses, parameters and parts as a message of each size holds. */
const SIZES = [10 * kB, 60 * kB, 250 * kB, 5 * MB] as const
/** Milliseconds of processor time of the main loop for one message. */
const MOST_MS = 25
const MAX_HEADER = 500 * kB

/** A sample for `npm test`. */
const QUICK = new Set(['fields DKIM-Signature', 'fields Resent-From', 'parts'])

/** Fields that the relay reads, by any rule of its own. */
const FIELDS = [
  ...['Sender', 'Resent-From', 'Resent-To', 'Authentication-Results', 'Received-SPF', 'DKIM-Signature', 'ARC-Seal'],
  ...['To', 'Cc', 'Bcc', 'Reply-To', 'References', 'Received', 'List-Unsubscribe', 'Content-Type'],
  ...['X-TAGS', 'X-SETTINGS', 'X-ATTRIBUTES', 'X-APIHEADER', 'X-SMTPAPI', 'Idempotency-Key', 'X'],
]
/** Values whose elements are cheap. */
const VALUES: readonly (readonly [what: string, unit: string])[] = [
  ['commas', ','],
  ['addresses', 'a@b.cd,'],
  ['comments', '()'],
  ['open comments', '('],
  ['quotes', '"'],
  ['angle brackets', '<'],
  ['parameters', ';a=b'],
  ['encoded words', '=?utf-8?Q?a?= '],
  ['letters beyond ASCII', '\u00e9'],
]
const X_SMTPAPI: readonly (readonly [name: string, make: (octets: number) => string])[] = [
  ...['to', 'category', 'asm_groups_to_display'].map((name): [string, (octets: number) => string] => [
    name,
    (octets) => `{"${name}":[${fill('"",', octets - (octets % 3))}""]}`,
  ]),
  ...['sub', 'section', 'unique_args', 'filters'].map((name): [string, (octets: number) => string] => [
    name,
    (octets) => `{"${name}":{${Array.from({ length: octets / 10 }, (_, at) => `"${at}":[]`).join(',')}}}`,
  ]),
]

/** A value folded as header fields are. */
function folded(value: string): string {
  return value.replace(/.{1,500}/gs, '$&\r\n ').trimEnd()
}

function send(stage: Stage, fields: string, body = 'x\r\n'): Promise<string> {
  return stage.relay(`From: desk@${stage.sender.domain}\r\nSubject: s\r\n${fields}\r\n${body}`)
}

type Make = (octets: number) => readonly [fields: string, body?: string]

function rowOf(name: string, make: Make): Row {
  return {
    door: 'relay',
    name: `generated: ${name}`,
    most: MOST_MS,
    inputs: SIZES.length,
    ...(QUICK.has(name) ? { quick: true as const } : {}),
    async attack(stage) {
      const answers: string[] = []
      for (const octets of SIZES) answers.push((await send(stage, ...make(octets))).slice(0, 9))
      return answers.join(', ')
    },
  }
}

const inHeader = (octets: number): number => Math.min(octets, MAX_HEADER)

export const GENERATED_RELAY: readonly Row[] = [
  ...FIELDS.map((name) =>
    rowOf(`fields ${name}`, (octets) => [
      fill(`${name}: a\r\n`, Math.floor(inHeader(octets) / (name.length + 5)) * (name.length + 5)),
    ]),
  ),
  ...FIELDS.flatMap((name) =>
    VALUES.map(([what, unit]) =>
      rowOf(`${name} of ${what}`, (octets) => [`${name}: ${folded(fill(unit, inHeader(octets)))}\r\n`]),
    ),
  ),
  ...X_SMTPAPI.map(([name, make]) =>
    rowOf(`X-SMTPAPI ${name}`, (octets) => [`X-SMTPAPI: ${folded(make(inHeader(octets)))}\r\n`]),
  ),
  rowOf('parts', (octets) => [
    'Content-Type: multipart/mixed; boundary=x\r\n',
    `${fill('--x\r\n\r\n', octets - (octets % 7))}--x--\r\n`,
  ]),
  rowOf('parts with doubled fields', (octets) => {
    const part = '--x\r\nContent-Type: text/plain\r\nContent-Type: text/plain\r\n\r\n'
    return ['Content-Type: multipart/mixed; boundary=x\r\n', `${part.repeat(octets / part.length)}--x--\r\n`]
  }),
  rowOf('empty lines', (octets) => ['', fill('\r\n', octets)]),
]
