export const UMLAUTS = 'Fähre über Köln\r\n'.repeat(20)

/** Messages with octets beyond ASCII, and what another program reads in them. */
export const EIGHT_BIT_BODIES: readonly (readonly [what: string, message: string, note: string, text: string])[] = [
  ['a text without MIME', `\r\n${UMLAUTS}`, 'the body was encoded', UMLAUTS],
  [
    'HTML in 8bit',
    `MIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n<p>${UMLAUTS}</p>\r\n`,
    'the body was encoded',
    UMLAUTS,
  ],
  [
    'a part of a multipart',
    `MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\nprolog ü\r\n--b\r\n` +
      `Content-Type: text/plain; charset=utf-8\r\nContent-Description: Köln\r\n\r\n${UMLAUTS}\r\n--b--\r\n`,
    'part 1 was encoded',
    UMLAUTS,
  ],
  [
    'a message shown within another',
    `MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n` +
      `Content-Type: message/rfc822\r\nContent-Transfer-Encoding: 8bit\r\nContent-Disposition: inline\r\n\r\n` +
      `Subject: Fähre\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${UMLAUTS}\r\n--b--\r\n`,
    'part 1 was encoded',
    UMLAUTS,
  ],
]

/** A multipart with a file whose name is #. */
export const ATTACHMENT =
  '--b\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n' +
  'Content-Disposition: attachment; filename="#"\r\n\r\nHällo\r\n--b--\r\n'

/** Names of files as they are written in it, and as a reader finds them. */
export const FILE_NAMES: readonly (readonly [what: string, name: string, found: string])[] = [
  ['in UTF-8', 'Fähre.txt', 'Fähre.txt'],
  ['in both forms', 'Fähre.txt"; filename*="UTF-8\'\'F%C3%A4hre.txt', 'Fähre.txt'],
  ['with an encoded word', '=?utf-8?Q?F=C3=A4hre?= Köln.txt', 'Fähre Köln.txt'],
]
