import { type Row, rowsOf } from '../row.ts'
import { least, leastV3, type Stage } from '../stage.ts'
import { fill, MB } from '../text.ts'

/**
 * What some pattern, somewhere, looks for. A pattern that finds ten million of them takes memory for each, and where that is more than a
 * thread has, the process ends with it: `%41` did that in a form.
 */
const UNITS: Readonly<Record<string, string>> = {
  'line ends': '\r\n',
  'bare line feeds': '\n',
  blanks: ' ',
  tabs: '\t',
  NUL: '\0',
  DEL: '\x7f',
  commas: ',',
  dots: '.',
  'at signs': '@',
  quotes: '"',
  backslashes: '\\',
  angles: '<',
  'closed tags': '<b>',
  ampersands: '&',
  entities: '&amp;',
  'percent signs': '%',
  'percent escapes': '%41',
  'plus signs': '+',
  slashes: '/',
  colons: ':',
  é: 'é',
  'two surrogates': '😀',
  braces: '{{',
  'filled tags': '[%A%]',
  'encoded words': '=?utf-8?q?a?= ',
  equals: '=',
}

const SIZE = 9 * MB
const LARGEST = 27 * MB

const to = [{ email: 'lena@open.example' }]
const v3 = (stage: Stage, extra: Readonly<Record<string, unknown>>): Promise<string> =>
  stage.v3('/mail/send', { body: JSON.stringify({ ...leastV3(stage.sender), ...extra }) })

/** Each text a caller may send, of nothing but one of the units. */
const FIELDS: Readonly<Record<string, (stage: Stage, unit: string) => Promise<string>>> = {
  'v2 content': (stage, unit) => stage.send({ content: fill(unit, SIZE) }),
  'v2 subject': (stage, unit) => stage.send({ subject: fill(unit, SIZE) }),
  'v2 form field': (stage, unit) =>
    stage.call('/v2/sendEmail', {
      body: `data=${JSON.stringify(least(stage.sender))}&content=${fill(unit, SIZE)}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    }),
  'v2 attribute': (stage, unit) =>
    stage.send({
      content: '[%A%]',
      personalizations: [{ recipient: 'lena@open.example', attributes: { A: fill(unit, SIZE) } }],
    }),
  'v2 attachment': (stage, unit) =>
    stage.send({ attachments: [{ fileName: 'a.txt', fileContent: fill(unit, LARGEST) }] }),
  'v3 HTML': (stage, unit) => v3(stage, { content: [{ type: 'text/html', value: fill(unit, SIZE) }] }),
  'v3 substitution': (stage, unit) =>
    v3(stage, { subject: '-a-', personalizations: [{ to, substitutions: { '-a-': fill(unit, SIZE) } }] }),
}

/** As many as there are of each field with each unit. */
export const FLOODS: readonly Row[] = rowsOf(
  'api',
  Object.fromEntries(
    Object.entries(FIELDS).flatMap(([field, act]) =>
      Object.entries(UNITS).map(([name, unit]) => [`flood: ${field} of ${name}`, (stage: Stage) => act(stage, unit)]),
    ),
  ),
  ['flood: v2 form field of percent escapes', 'flood: v2 content of percent escapes'],
)
