import t from 'tap'
import { areShown, both, FIELDS, HTML, itsText, octets, PLAIN, parts, type Row, text, UTF_8 } from './readable.ts'
import { startSandbox } from './sandbox.ts'

const sandbox = await startSandbox(t)

const ROWS: readonly Row[] = [
  [
    'blanks behind a boundary',
    parts('b', '--b  ', PLAIN, '--b ', HTML, '--b-- ', ''),
    both,
    ['first', '<p>second</p>'],
  ],
  [
    'tabs behind a boundary',
    parts('b', '--b\t', PLAIN, '--b\t \t', HTML, '--b--\t', ''),
    both,
    ['first', '<p>second</p>'],
  ],
  [
    'many blanks behind a boundary',
    parts('b', `--b${' '.repeat(500)}`, PLAIN, '--b', HTML, '--b--', ''),
    both,
    ['first', '<p>second</p>'],
  ],
  ['a boundary without its end', parts('b', '--b', PLAIN, '--b', HTML, ''), both, ['first', '<p>second</p>']],
  [
    'blanks behind an inner boundary',
    parts(
      'b',
      '--b ',
      'Content-Type: multipart/alternative; boundary=c',
      '',
      '--c ',
      PLAIN,
      '--c ',
      HTML,
      '--c-- ',
      '--b-- ',
      '',
    ),
    both,
    ['first', '<p>second</p>'],
  ],
  [
    'a part that only begins like a boundary',
    parts('b', '--b', 'Content-Type: text/plain', '', 'first', '--bc', '--b', HTML, '--b--', ''),
    both,
    ['first\n--bc', '<p>second</p>'],
  ],
  [
    'quoted-printable with a comment',
    text('text/plain; charset=utf-8', 'F=C3=A4hre', 'quoted-printable (comment)'),
    itsText,
    'Fähre',
  ],
  ['quoted_printable', text('text/plain; charset=utf-8', 'F=C3=A4hre', 'quoted_printable'), itsText, 'Fähre'],
  [
    '"base64" in quotes',
    text('text/plain; charset=utf-8', UTF_8.toString('base64'), '"base64"'),
    itsText,
    'Fähre nach Köln',
  ],
  [
    'a multipart without a boundary',
    octets(FIELDS, 'Subject: s\r\nContent-Type: multipart/mixed\r\n\r\nF\xe4hre\r\n'),
    itsText,
    'Fähre',
  ],
  [
    'a part without header and empty line',
    parts('b', '--b', 'first', '--b', HTML, '--b--', ''),
    both,
    ['first', '<p>second</p>'],
  ],
  ['a part without header', parts('b', '--b', 'first', '', 'more: a', '--b--', ''), itsText, 'first\n\nmore: a'],
]

areShown(t, sandbox, ROWS)
