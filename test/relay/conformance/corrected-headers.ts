import type { ParsedMail } from 'mailparser'

export const TO = 'To: Lena <lena@harbor.example>\r\n'
/** The fields that each message has. */
export const commonFields = (domain: string): string =>
  `From: Ship Desk <desk@${domain}>\r\nDate: Sun, 29 Nov 2026 10:00:00 +0000\r\nMessage-ID: <1@${domain}>\r\n`
export const IDS = Array.from({ length: 60 }, (_, n) => `<reference-${n}@ship.example>`)
export const WORDS = Array.from({ length: 300 }, (_, n) => `word${n}`).join(' ')
export const LONG_WORD = 'x'.repeat(1500)

/** Readers decode the words of fields that they know. */
function unencoded(text: string): string {
  return text.replace(/=\?utf-8\?B\?([^?]*)\?=\s*/g, (_word, octets: string) =>
    Buffer.from(octets, 'base64').toString(),
  )
}

export interface Corrected {
  /** Fields beside From, Date and Message-ID; # is the sender's domain. */
  readonly written: string
  /** In the reply. */
  readonly corrected: string
  /** The same fields as they are delivered, if they are short. */
  readonly sent?: string
  /** Some of what a reader finds. */
  readonly read?: (mail: ParsedMail) => unknown
  readonly found?: unknown
}

/** Headers by kind of correction, and what a reader finds in them. */
export const CORRECTED: readonly Corrected[] = [
  {
    written: `${TO}Subject: s\r\nContent-Type: text/plain; charset=utf-8; format=flowed\r\ncontent-type: TEXT/Plain; FORMAT="flowed";\r\n charset="UTF-8"\r\n`,
    corrected: 'the second field content-type was removed',
    sent: `${TO}Subject: s\r\nContent-Type: text/plain; charset=utf-8; format=flowed\r\n`,
  },
  {
    written: `${TO}References: ${IDS.join(' ')}\r\nSubject: s\r\n`,
    corrected: 'the header References was folded',
    read: ({ references }) => references,
    found: IDS,
  },
  {
    written: `${TO}Subject: ${WORDS}\r\n`,
    corrected: 'the header Subject was folded',
    read: ({ subject }) => subject,
    found: WORDS,
  },
  {
    written: `To: ${Array.from({ length: 80 }, (_, n) => `Lena ${n} <lena${n}@harbor.example>`).join(', ')}\r\nSubject: s\r\n`,
    corrected: 'the header To was folded',
    read: ({ to }) => [to].flat()[0]?.value.length,
    found: 80,
  },
  {
    written: `${TO}Subject: s\r\nX-Long: a\r\n ${'b '.repeat(800)}\r\n c\r\n`,
    corrected: 'the header X-Long was folded',
    read: ({ headers }) => String(headers.get('x-long')).replace(/\s+/g, ' ').length,
    found: 'a b c'.length + 2 * 799,
  },
  {
    written: `${TO}Subject: ${LONG_WORD}\r\n`,
    corrected: 'the header Subject was folded',
    read: ({ subject }) => subject,
    found: LONG_WORD,
  },
  {
    written: `${TO}Subject: =?utf-8?B?${Buffer.from('Fähre '.repeat(200)).toString('base64')}?=\r\n`,
    corrected: 'the header Subject was folded',
    read: ({ subject }) => subject?.trim(),
    found: 'Fähre '.repeat(200).trim(),
  },
  {
    written: `${TO}To: <LENA@harbor.example>\r\nSubject: s\r\n`,
    corrected: 'the second field To was removed',
    sent: `${TO}Subject: s\r\n`,
  },
  {
    written: `${TO}Subject: s\r\nFrom: <DESK@#>\r\n`,
    corrected: 'the second field From was removed',
    sent: `${TO}Subject: s\r\n`,
  },
  {
    written: `${TO}Subject: s\r\nMIME-Version: 1.0\r\nContent-Transfer-Encoding: 7BIT\r\nContent-Transfer-Encoding: 7bit\r\n`,
    corrected: 'the second field Content-Transfer-Encoding was removed',
    sent: `${TO}Subject: s\r\nMIME-Version: 1.0\r\nContent-Transfer-Encoding: 7BIT\r\n`,
  },
  {
    written: `${TO}Subject: s\r\nMIME-Version: 1.0\r\nContent-Transfer-Encoding: 8bit\r\nContent-Transfer-Encoding: 8-bit\r\n`,
    corrected: 'the second field Content-Transfer-Encoding was removed',
    sent: `${TO}Subject: s\r\nMIME-Version: 1.0\r\nContent-Transfer-Encoding: 8bit\r\n`,
  },
  {
    written: `${TO}Subject: s\r\nX-Token: ${LONG_WORD}\r\n`,
    corrected: 'the header X-Token was folded',
    read: ({ headers }) => unencoded(String(headers.get('x-token'))),
    found: LONG_WORD,
  },
  {
    written: `${TO}Subject: s\r\nsubject:  s\r\n`,
    corrected: 'the second field subject was removed',
    sent: `${TO}Subject: s\r\n`,
  },
  {
    written: `${TO}Subject: a  b\r\n${TO}Subject: a\r\n b\r\n`,
    corrected: 'the second field To was removed',
    sent: `${TO}Subject: a  b\r\n`,
  },
  {
    written: `${TO}Subject: s\r\nMIME-Version: 1.0\r\nContent-Type: text/plain\r\nMIME-Version: 1.0\r\nContent-Type: text/plain\r\n`,
    corrected: 'the second field MIME-Version was removed',
    sent: `${TO}Subject: s\r\nMIME-Version: 1.0\r\nContent-Type: text/plain\r\n`,
  },
  {
    written: `${TO}Subject: s\r\nX-A: a\r\n \r\n b\r\nX-B: c\r\n\t\t\r\n`,
    corrected: 'blank lines of the header were removed',
    sent: `${TO}Subject: s\r\nX-A: a\r\n b\r\nX-B: c\r\n`,
  },
  {
    written: `To : Lena <lena@harbor.example>\r\nSubject \t: s\r\n`,
    corrected: 'the blank after To was removed',
    sent: `${TO}Subject: s\r\n`,
    read: ({ to, subject }) => [[to].flat()[0]?.text, subject],
    found: ['"Lena" <lena@harbor.example>', 's'],
  },
  ...[
    ...['8-bit', '8 bit', '8BITS', '"8bit"', '8bit (as it is)', '8bit; charset=utf-8'],
    ...['utf-8', 'UTF8', 'none', 'plain', 'ascii', 'us-ascii', 'text/plain'],
  ].map((value) => ({
    written: `${TO}Subject: s\r\nMIME-Version: 1.0\r\nContent-Transfer-Encoding: ${value}\r\n`,
    corrected: 'Content-Transfer-Encoding was written as 8bit',
    sent: `${TO}Subject: s\r\nMIME-Version: 1.0\r\nContent-Transfer-Encoding: 8bit\r\n`,
  })),
  {
    written: `${TO}Subject: s\r\ncontent-transfer-encoding: quoted_printable\r\n`,
    corrected: 'content-transfer-encoding was written as quoted-printable',
    sent: `${TO}Subject: s\r\ncontent-transfer-encoding: quoted-printable\r\n`,
  },
  ...['text/plain charset=utf-8', 'Text/Plain\r\n charset=utf-8'].map((value) => ({
    written: `${TO}Subject: s\r\nMIME-Version: 1.0\r\nContent-Type: ${value}\r\n`,
    corrected: 'Content-Type got its semicolon',
    sent: `${TO}Subject: s\r\nMIME-Version: 1.0\r\nContent-Type: ${value.replace(/(?=\s)/, ';')}\r\n`,
  })),
  ...['(as it is) 8-bit', '(a) (b)\r\n 8bit'].map((value) => ({
    written: `${TO}Subject: s\r\nMIME-Version: 1.0\r\nContent-Transfer-Encoding: ${value}\r\n`,
    corrected: 'Content-Transfer-Encoding was written as 8bit',
    sent: `${TO}Subject: s\r\nMIME-Version: 1.0\r\nContent-Transfer-Encoding: 8bit\r\n`,
  })),
]
