import t from 'tap'
import {
  areShown,
  file,
  header,
  ISO_2022_JP,
  itsFiles,
  itsSubject,
  JAPANESE,
  LATIN,
  octets,
  type Row,
  UTF_8,
} from './readable.ts'
import { startSandbox } from './sandbox.ts'

const sandbox = await startSandbox(t)

const ROWS: readonly Row[] = [
  ['a Subject in raw UTF-8', header(octets('Subject: ', UTF_8)), itsSubject, 'Fähre nach Köln'],
  ['a Subject in raw Latin-1', header(octets('Subject: ', LATIN)), itsSubject, 'Fähre nach Köln'],
  ['a Subject in raw ISO-2022-JP', header(octets('Subject: ', ISO_2022_JP)), itsSubject, JAPANESE],
  [
    'a Subject in raw ISO-2022-JP in two lines',
    header(octets('Subject: ', ISO_2022_JP, '\r\n ', ISO_2022_JP)),
    itsSubject,
    `${JAPANESE} ${JAPANESE}`,
  ],
  [
    'a Subject in the charset of the text',
    header(octets('Content-Type: text/plain; charset=koi8-r\r\nSubject: \xd0\xd2\xc9\xd7\xc5\xd4')),
    itsSubject,
    'привет',
  ],
  [
    'a folded Subject in raw Latin-1',
    header(octets('Subject: F\xe4hre\r\n nach K\xf6ln')),
    itsSubject,
    'Fähre nach Köln',
  ],
  [
    'encoded words',
    header('Subject: =?iso-8859-1?Q?F=E4hre?= =?utf-8?B?IG5hY2ggS8O2bG4=?='),
    itsSubject,
    'Fähre nach Köln',
  ],
  [
    'base64 words that share a character',
    header('Subject: =?utf-8?B?RsM=?= =?utf-8?B?pGhyZQ==?='),
    itsSubject,
    'Fähre',
  ],
  [
    'quoted words that share a character',
    header('Subject: =?utf-8?Q?F=C3?=\r\n =?utf-8?Q?=A4hre?='),
    itsSubject,
    'Fähre',
  ],
  [
    'words of both kinds that share a character',
    header('Subject: =?utf-8?Q?F=C3?= =?utf-8?B?pGhyZQ==?='),
    itsSubject,
    'Fähre',
  ],
  [
    'Shift_JIS words that share a character',
    header('Subject: =?shift_jis?B?grGC?= =?shift_jis?B?8YLJgr+CzQ==?='),
    itsSubject,
    JAPANESE,
  ],
  ...['x-unknown', 'unknown-8bit', 'ansi', 'us-ascii'].map(
    (name) => [`a word of the charset ${name}`, header(`Subject: =?${name}?Q?F=E4hre?=`), itsSubject, 'Fähre'] as const,
  ),
  ['a word of UTF-8 with Latin-1', header('Subject: =?utf-8?Q?F=E4hre?='), itsSubject, 'Fähre'],
  ['a word of the charset utf8mb4', header('Subject: =?utf8mb4?Q?F=C3=A4hre?='), itsSubject, 'Fähre'],
  ['a word of hz-gb-2312', header('Subject: =?hz-gb-2312?B?fntEYzpDfn0=?='), itsSubject, '你好'],
  ['a word of a language', header('Subject: =?iso-8859-1*de?Q?F=E4hre?='), itsSubject, 'Fähre'],
  ['a word of cp850', header('Subject: =?cp850?Q?F=84hre?='), itsSubject, 'Fähre'],
  ['a word with blanks', header('Subject: =?utf-8?Q?F=C3=A4hre nach?='), itsSubject, 'Fähre nach'],
  [
    'a raw name beside a word',
    header(octets('Subject: =?utf-8?Q?F=C3=A4hre?= nach K\xf6ln')),
    itsSubject,
    'Fähre nach Köln',
  ],

  ['a name by RFC 2231', file("; filename*=utf-8''F%C3%A4hre.pdf"), itsFiles, ['Fähre.pdf']],
  ['a name by RFC 2231 in Latin-1', file("; filename*=iso-8859-1'de'F%E4hre.pdf"), itsFiles, ['Fähre.pdf']],
  ['a name by RFC 2231 in Shift_JIS', file("; filename*=shift_jis''%82%B1%82%F1.pdf"), itsFiles, ['こん.pdf']],
  [
    'a name by RFC 2231 in ISO-2022-JP',
    file("; filename*=iso-2022-jp''%1B%24B%243%24s%1B%28B.pdf"),
    itsFiles,
    ['こん.pdf'],
  ],
  ['a name by RFC 2231 in an unknown charset', file("; filename*=x-unknown''F%E4hre.pdf"), itsFiles, ['Fähre.pdf']],
  ['a name by RFC 2231 without a charset', file("; filename*=''F%C3%A4hre.pdf"), itsFiles, ['Fähre.pdf']],
  ['a Latin-1 name by RFC 2231 without a charset', file("; filename*=''F%E4hre.pdf"), itsFiles, ['Fähre.pdf']],
  ['a name by RFC 2231 without its quotes', file('; filename*=F%C3%A4hre.pdf'), itsFiles, ['Fähre.pdf']],
  ['a quoted name by RFC 2231', file('; filename*="utf-8\'\'F%C3%A4hre.pdf"'), itsFiles, ['Fähre.pdf']],
  ['a name in pieces', file("; filename*0*=utf-8''F%C3; filename*1*=%A4hre; filename*2=.pdf"), itsFiles, ['Fähre.pdf']],
  ['a name in plain pieces', file('; filename*0="Berth "; filename*1="4.pdf"'), itsFiles, ['Berth 4.pdf']],
  ['a name both ways', file('; filename="F?hre.pdf"; filename*=utf-8\'\'F%C3%A4hre.pdf'), itsFiles, ['Fähre.pdf']],
  ['a name in a word', file('; filename="=?utf-8?B?RsOkaHJlLnBkZg==?="'), itsFiles, ['Fähre.pdf']],
  ['a name in a word of an unknown charset', file('; filename="=?x-unknown?Q?F=E4hre.pdf?="'), itsFiles, ['Fähre.pdf']],
  ['a name in words', file('; filename="=?utf-8?B?RsM=?=\r\n =?utf-8?B?pGhyZS5wZGY=?="'), itsFiles, ['Fähre.pdf']],
  ['a name in raw UTF-8', file(octets('; filename="', Buffer.from('Fähre'), '.pdf"')), itsFiles, ['Fähre.pdf']],
  ['a name in raw Latin-1', file(octets('; filename="F\xe4hre.pdf"')), itsFiles, ['Fähre.pdf']],
  ['a name in raw ISO-2022-JP', file(octets('; filename="', ISO_2022_JP, '.pdf"')), itsFiles, [`${JAPANESE}.pdf`]],
  ['a name of the type only', file('', octets('application/pdf; name="F\xe4hre.pdf"')), itsFiles, ['Fähre.pdf']],
  ['a name with percent signs', file('; filename="100%25.pdf"'), itsFiles, ['100%25.pdf']],
]

areShown(t, sandbox, ROWS)
