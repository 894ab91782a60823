import t from 'tap'
import {
  areShown,
  BIG5,
  EUC_JP,
  EUC_KR,
  GBK,
  HZ,
  ISO_2022_JP,
  itsHtml,
  itsText,
  JAPANESE,
  LATIN,
  octets,
  type Row,
  SHIFT_JIS,
  text,
  UTF_8,
} from './readable.ts'
import { startSandbox } from './sandbox.ts'

const sandbox = await startSandbox(t)

const meta = (charset: string): Buffer =>
  octets(`<html><head><meta http-equiv="Content-Type" content="text/html; charset=${charset}"></head><body>`)

const ROWS: readonly Row[] = [
  ['UTF-8 without a type', text(undefined, UTF_8), itsText, 'Fähre nach Köln'],
  ['Latin-1 without a type', text(undefined, LATIN), itsText, 'Fähre nach Köln'],
  ['UTF-8 without a charset', text('text/plain', UTF_8), itsText, 'Fähre nach Köln'],
  ['Latin-1 without a charset', text('text/plain', LATIN), itsText, 'Fähre nach Köln'],
  ['Latin-1 without a charset, in base64', text('text/plain', LATIN, 'base64'), itsText, 'Fähre nach Köln'],
  [
    'Latin-1 without a charset, in quoted-printable',
    text('text/plain', 'F=E4hre', 'quoted-printable'),
    itsText,
    'Fähre',
  ],
  [
    'flowed Latin-1 without a charset',
    text('text/plain; format=flowed', octets('F\xe4hre \r\nnach')),
    itsText,
    'Fähre nach',
  ],
  ['Latin-1 declared as US-ASCII', text('text/plain; charset=us-ascii', LATIN), itsText, 'Fähre nach Köln'],
  ['UTF-8 declared as US-ASCII', text('text/plain; charset=us-ascii', UTF_8), itsText, 'Fähre nach Köln'],
  ['Latin-1 declared as UTF-8', text('text/plain; charset=utf-8', LATIN), itsText, 'Fähre nach Köln'],
  [
    'windows-1252 declared as ISO 8859-1',
    text('text/plain; charset=iso-8859-1', octets('\x93F\xe4hre\x94 \x80 5')),
    itsText,
    '“Fähre” € 5',
  ],
  ...['unknown-8bit', 'x-unknown', 'ansi', '%charset%', 'x-user-defined'].flatMap((name) => [
    [
      `Latin-1 in the charset ${name}`,
      text(`text/plain; charset="${name}"`, LATIN),
      itsText,
      'Fähre nach Köln',
    ] as const,
    [`UTF-8 in the charset ${name}`, text(`text/plain; charset="${name}"`, UTF_8), itsText, 'Fähre nach Köln'] as const,
  ]),
  ...["'utf-8'", 'utf8mb4', 'utf-8 (comment)', '"utf-8;"', 'UTF8', 'utf_8', 'unicode-1-1-utf-8', 'utf-8,'].map(
    (name) => [`the charset ${name}`, text(`text/plain; charset=${name}`, UTF_8), itsText, 'Fähre nach Köln'] as const,
  ),
  ...["'iso-8859-1'", 'latin1', 'ISO_8859-1', 'iso8859-1', 'cp1252', 'win-1252', '"iso-8859-1 "', 'l1'].map(
    (name) => [`the charset ${name}`, text(`text/plain; charset=${name}`, LATIN), itsText, 'Fähre nach Köln'] as const,
  ),
  ...['cp850', 'cp-850', 'ibm850'].map(
    (name) =>
      [`the charset ${name}`, text(`text/plain; charset=${name}`, octets('F\x84hre')), itsText, 'Fähre'] as const,
  ),
  ['UTF-7', text('text/plain; charset=utf-7', 'F+AOQ-hre'), itsText, 'Fähre'],
  ['UTF-8 with a byte order mark', text('text/plain; charset=utf-8', '\ufeffFähre'), itsText, 'Fähre'],
  ['UTF-8 with a byte order mark, without a charset', text('text/plain', '\ufeffFähre'), itsText, 'Fähre'],
  [
    'UTF-8 with a byte order mark, declared as Latin-1',
    text('text/plain; charset=iso-8859-1', '\ufeffFähre'),
    itsText,
    'Fähre',
  ],
  ...(['utf-16', 'utf-16le', 'UTF-16LE', 'unicode', 'ucs-2'] as const).map(
    (name) =>
      [
        `little-endian UTF-16 as ${name}, without a mark`,
        text(`text/plain; charset=${name}`, Buffer.from('Fähre', 'utf16le'), 'base64'),
        itsText,
        'Fähre',
      ] as const,
  ),
  ...(['utf-16', 'utf-16le'] as const).map(
    (name) =>
      [
        `little-endian UTF-16 as ${name}, with a mark`,
        text(`text/plain; charset=${name}`, Buffer.from('\ufeffFähre', 'utf16le'), 'base64'),
        itsText,
        'Fähre',
      ] as const,
  ),
  ...(['utf-16', 'utf-16be'] as const).flatMap((name) =>
    (name === 'utf-16' ? ['\ufeffFähre'] : ['Fähre', '\ufeffFähre']).map(
      (content) =>
        [
          `big-endian UTF-16 as ${name}${content.length > 5 ? ', with a mark' : ''}`,
          text(`text/plain; charset=${name}`, Buffer.from(content, 'utf16le').swap16(), 'base64'),
          itsText,
          'Fähre',
        ] as const,
    ),
  ),
  [
    'UTF-16 with a mark, without a charset',
    text('text/plain', Buffer.from('\ufeffFähre', 'utf16le'), 'base64'),
    itsText,
    'Fähre',
  ],
  ['ISO-2022-JP', text('text/plain; charset=iso-2022-jp', ISO_2022_JP), itsText, JAPANESE],
  ['ISO-2022-JP without a charset', text('text/plain', ISO_2022_JP), itsText, JAPANESE],
  ['ISO-2022-JP without a type', text(undefined, ISO_2022_JP), itsText, JAPANESE],
  ['ISO-2022-JP declared as US-ASCII', text('text/plain; charset=us-ascii', ISO_2022_JP), itsText, JAPANESE],
  ...['iso-2022-jp-ms', 'csISO2022JP', 'iso2022jp', 'ISO-2022-JP-2'].map(
    (name) => [`ISO-2022-JP as ${name}`, text(`text/plain; charset=${name}`, ISO_2022_JP), itsText, JAPANESE] as const,
  ),
  ...['shift_jis', 'x-sjis', 'ms_kanji', 'cp932', 'windows-31j', 'Shift-JIS', 'sjis'].map(
    (name) => [`Shift_JIS as ${name}`, text(`text/plain; charset=${name}`, SHIFT_JIS), itsText, JAPANESE] as const,
  ),
  ...['euc-jp', 'eucjp', 'x-euc-jp', 'cp51932'].map(
    (name) => [`EUC-JP as ${name}`, text(`text/plain; charset=${name}`, EUC_JP), itsText, JAPANESE] as const,
  ),
  ...['gb2312', 'gbk', 'gb18030', 'cp936', 'x-gbk', 'gb_2312-80', 'ms936', 'euc-cn'].map(
    (name) => [`GBK as ${name}`, text(`text/plain; charset=${name}`, GBK), itsText, '你好'] as const,
  ),
  ['hz-gb-2312', text('text/plain; charset=hz-gb-2312', HZ), itsText, 'say 你好 ~ and more'],
  ['hz-gb-2312 in HTML', text('text/html; charset=HZ-GB-2312', '<p>~{Dc:C~}</p>'), itsHtml, '<p>你好</p>'],
  ...['big5', 'big5-hkscs', 'cp950', 'x-x-big5', 'cn-big5'].map(
    (name) => [`Big5 as ${name}`, text(`text/plain; charset=${name}`, BIG5), itsText, '你好'] as const,
  ),
  ...['euc-kr', 'ks_c_5601-1987', 'cp949', 'korean', 'ksc5601'].map(
    (name) => [`EUC-KR as ${name}`, text(`text/plain; charset=${name}`, EUC_KR), itsText, '안녕'] as const,
  ),
  ...['iso-2022-kr', 'csISO2022KR'].map(
    (name) =>
      [
        `ISO-2022-KR as ${name}`,
        text(`text/plain; charset=${name}`, '\x1b$)Chi \x0e>H3g\x0f there'),
        itsText,
        'hi 안녕 there',
      ] as const,
  ),
  ['KOI8-R', text('text/plain; charset=koi8-r', octets('\xd0\xd2\xc9\xd7\xc5\xd4')), itsText, 'привет'],
  [
    'Latin-1 HTML whose charset is only in meta http-equiv',
    text('text/html', octets(meta('iso-8859-1'), LATIN)),
    itsHtml,
    `${meta('iso-8859-1')}Fähre nach Köln`,
  ],
  [
    'KOI8-R HTML whose charset is only in meta http-equiv',
    text('text/html', octets(meta('koi8-r'), '\xd0\xd2\xc9\xd7\xc5\xd4')),
    itsHtml,
    `${meta('koi8-r')}привет`,
  ],
  [
    'Shift_JIS HTML whose charset is only in meta charset',
    text('text/html', octets('<meta charset=shift_jis>', SHIFT_JIS)),
    itsHtml,
    `<meta charset=shift_jis>${JAPANESE}`,
  ],
  [
    'UTF-8 HTML whose meta says Latin-1',
    text('text/html', octets(meta('iso-8859-1'), UTF_8)),
    itsHtml,
    `${meta('iso-8859-1')}Fähre nach Köln`,
  ],
  [
    'HTML with a charset and another one in its meta',
    text('text/html; charset=utf-8', octets(meta('koi8-r'), UTF_8)),
    itsHtml,
    `${meta('koi8-r')}Fähre nach Köln`,
  ],
]

areShown(t, sandbox, ROWS)
