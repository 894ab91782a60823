import { atOnce, checkDynamic, createSubstituter, parseAddress, parseDomain, readReturn } from '@postrider/core'
import { parseStrictJson } from '../../packages/api/src/http/strict-json.ts'
import { isOneClick } from '../../packages/api/src/tracking/one-click.ts'
import { formFields, toObject } from '../../packages/api/src/v2/body/form.ts'
import { boundaryOf, partsOf } from '../../packages/api/src/v2/body/multipart.ts'
import { parseQuery } from '../../packages/api/src/v3/activity/parse-query.ts'
import { declareUtf8 } from '../../packages/core/src/composition/links/html-charset.ts'
import { findHtmlLinks } from '../../packages/core/src/composition/links/html-links.ts'
import { findTextLinks } from '../../packages/core/src/composition/links/text-links.ts'
import { cutSentence } from '../../packages/core/src/composition/links/unsubscribe-sentence.ts'
import { renderMergeTags } from '../../packages/core/src/composition/merge.ts'
import { generateText } from '../../packages/core/src/content/plain-text/html-text.ts'
import { bounceClass } from '../../packages/core/src/delivery/outcomes/bounce-rules.ts'
import { retryAfterOf } from '../../packages/core/src/delivery/outcomes/schedule.ts'
import { charsetOf } from '../../packages/core/src/mime/charset.ts'
import { canTakeApart } from '../../packages/core/src/mime/closed.ts'
import { asciiField } from '../../packages/core/src/mime/conformance/ascii-field.ts'
import { decodeText } from '../../packages/core/src/mime/decode-text.ts'
import { encodeText } from '../../packages/core/src/mime/encode.ts'
import { fileNameParameter, mailboxField, textField } from '../../packages/core/src/mime/header.ts'
import { findTexts } from '../../packages/core/src/mime/read.ts'
import { decodeTransfer } from '../../packages/core/src/mime/transfer.ts'
import { splitHeader } from '../../packages/core/src/raw/header.ts'
import { readSmtpApi } from '../../packages/core/src/raw/smtpapi/smtpapi.ts'
import { ReplyReader } from '../../packages/delivery/src/smtp/reply-reader.ts'
import { parsePath } from '../../packages/relay/src/smtp/path.ts'
import { checkHtml } from '../../packages/sandbox/src/html-check/html-check.ts'
import { codesOf } from '../../packages/sandbox/src/reading/codes.ts'
import { partsOf as htmlPartsOf, linksOfText } from '../../packages/sandbox/src/reading/html-parts.ts'
import { readableMessage, writtenHeaders } from '../../packages/sandbox/src/reading/readable-message.ts'

/** What reads outside text, and the words its grammar is made of. */
export interface Parser {
  readonly name: string
  readonly words: readonly string[]
  read(text: string): unknown
}

const parser = (name: string, words: readonly string[], read: (text: string) => unknown): Parser => ({
  name,
  words,
  read,
})
const MIME = [
  'Content-Type: ',
  'multipart/mixed',
  'text/html',
  '; boundary=',
  'x',
  '"',
  '\r\n',
  '\r\n\r\n',
  '--x',
  '--',
  ' ',
  '\t',
  ';',
  '=',
  ':',
  '\\',
]
const CSS = ['<style>', '</style>', '<a style="', ..."{};:'\\<", '/*', '*/', '@media (', '1px']
const CODES = ['code ', ...'1A -\n.(:<>', '<td>', '</td>', 'is ']
const LINKS = ['<a href=', 'x', '</a>', ...'> .)"', 'https://a', '<img alt=']
const REPLY = [
  'mailbox',
  'user',
  'account',
  'unknown',
  'full',
  'try again in',
  'wait',
  'for',
  'about',
  ' ',
  '1',
  'greylist',
  'minutes',
  'message',
]

export const PARSERS: readonly Parser[] = [
  parser('JSON', ['{', '}', '[', ']', '"', '\\', ':', ',', '0', '"a":', '{}', '1e9', ' '], (text) =>
    parseStrictJson(Buffer.from(text)),
  ),
  parser(
    'urlencoded form',
    ['&', '=', '[', ']', 'a', '%', '%41', '+', '[]', '[0]', 'attributes', '__proto__'],
    (text) => toObject(formFields(text)),
  ),
  parser('multipart form', [...MIME, 'Content-Disposition: form-data', 'name=', "filename*=utf-8''", '%41'], (text) => [
    ...partsOf(Buffer.from(`--x\r\nContent-Disposition: form-data; name="a"${text}\r\n--x--\r\n`), 'x'),
  ]),
  parser('boundary of a Content-Type', [';', ' ', 'boundary=', '"', 'x', ','], boundaryOf),
  parser(
    'one-click form',
    ['content-disposition:', 'name=', '"', 'list-unsubscribe', '\r\n', '\n', 'one-click', ' ', '&', '=', '%'],
    (text) => isOneClick(text.slice(0, 8192)),
  ),
  parser('query of Email Activity', [...`="'\\(), %1`, 'status', ' AND ', 'IN', 'NOT '], parseQuery),
  parser('address', ['@', '.', '"', '\\', 'a', 'ü', '<', '>', ' ', 'xn--', '(', ')', ','], parseAddress),
  parser('domain', ['.', '-', 'a', 'ü', 'xn--', '1', '\u00ad', '\u3002'], parseDomain),
  parser('merge tags', ['[%', '%]', ' ', 'a', '[', '%', ']', '.'], (text) => renderMergeTags(text, { a: 'b', A: 'c' })),
  parser('substitutions', ['a', 'b', '-', 'ab', 'aa', '-a-'], (text) => {
    const [keys = '', content = ''] = [text.slice(0, text.length / 2), text.slice(text.length / 2)]
    const names = keys.match(/.{1,200}/gs)?.slice(0, 50) ?? []
    return createSubstituter(names).substitute(content, Object.fromEntries(names.map((name) => [name, 'v'])))
  }),
  parser(
    'dynamic template',
    [
      '{{',
      '}}',
      '{{{',
      '}}}',
      '#if',
      '/if',
      '#each',
      'else',
      'a',
      '.',
      '../',
      '(',
      ')',
      '"',
      '!--',
      '--',
      '~',
      ' ',
      '\n',
      'this',
      '@',
      '[',
      ']',
      '|',
    ],
    checkDynamic,
  ),
  parser(
    'links of HTML',
    [
      '<',
      '>',
      'a',
      ' ',
      'href=',
      '"',
      "'",
      '/',
      '<!--',
      '-->',
      '<a ',
      '<style>',
      '</',
      'http://',
      '&',
      '&amp;',
      '<![CDATA[',
      '<title>',
    ],
    (text) => findHtmlLinks(text),
  ),
  parser(
    'text of HTML',
    [
      ...[
        '<',
        '>',
        '</',
        '<!--',
        '-->',
        '&',
        '&amp;',
        '="',
        '"',
        ' ',
        '\n',
        'a',
        '<a href=x>',
        '</a>',
        '<p>',
        '<br>',
        '<i>',
        '</i>',
        '<ul>',
        '</ul>',
      ],
      ...[
        '<li>',
        '</li>',
        '<table>',
        '</table>',
        '<tr>',
        '<td>',
        '</td>',
        '<blockquote>',
        '<pre>',
        '</pre>',
        '<div hidden>',
        '</div>',
        ' style=',
      ],
    ],
    (text) => atOnce(generateText(text)),
  ),
  parser(
    'links of a text',
    ['http://', 'https://', 'a', '.', '/', '(', ')', '[', ']', ' ', '?', '!', 'é', '\n', '=', '>', "'"],
    findTextLinks,
  ),
  parser('unsubscribe sentence', ['<%', '%>', '%', '<', '>', 'a', ' '], cutSentence),
  parser(
    'charsets of HTML',
    ['<meta ', '<?xml ', 'charset', 'encoding', '=', '"', ';', ' ', '>', 'name='],
    declareUtf8,
  ),
  parser('name of a charset', ['utf-8', '(', ')', "'", '"', ' ', ','], (text) => charsetOf(text, 'x')),
  parser('text of a charset', ['~{', '~}', '~', '!!', '\r\n', 'a', '\xe4'], (text) =>
    decodeText(Buffer.from(text, 'latin1'), 'hz-gb-2312'),
  ),
  parser('charset of HTML', ['<meta ', '<', '>', 'charset', '=', '"', ' ', 'utf-8', '\xe4', '\x1b$B'], (text) =>
    decodeText(Buffer.from(text, 'latin1'), '', { isHtml: true }),
  ),
  parser(
    'message for the inbox',
    [
      ...MIME,
      'Subject: ',
      '=?x?Q?',
      '=?utf-8?B?',
      '?=',
      '\xe4',
      '\x1b$B',
      '*=',
      "''",
      '--x \r\n',
      'filename',
      '; charset=',
    ],
    (text) => {
      const message = Buffer.from(text, 'latin1')
      return [readableMessage(message), writtenHeaders(message)]
    },
  ),
  parser('MIME structure', MIME, (text) => canTakeApart(Buffer.from(text))),
  parser('texts of a MIME message', MIME, (text) =>
    findTexts(Buffer.from(`Content-Type: multipart/mixed; boundary=x\r\n${text}`)),
  ),
  parser('quoted-printable', ['=', '=41', '=\r\n', ' ', '\t', '\r\n', 'a', '\r'], (text) =>
    decodeTransfer(Buffer.from(text), 'quoted-printable'),
  ),
  parser('base64', ['QUFB', '=', '\r\n', ' ', 'A', '+'], (text) => decodeTransfer(Buffer.from(text), 'base64')),
  parser('body encoding', ['é', 'a', '=', ' ', '\r', '\n', '\r\n', '.'], encodeText),
  parser('header field encoding', ['é', 'a', '=?', '?=', ' ', '"', '\\', '𝔟', '.'], (text) => {
    const value = text.replace(/[\r\n\0]/g, '').slice(0, 4096)
    return [
      textField('Subject', value),
      mailboxField('To', [{ name: value, address: 'a@b.example' }]),
      fileNameParameter('name', value),
    ]
  }),
  parser('header field in ASCII', ['ü', '(', ')', '"', '\\', '<', '>', ',', ':', '@', ' ', 'a.b', 'https://'], (text) =>
    ['To', 'List-Unsubscribe', 'Received', 'X-A'].map((name) =>
      asciiField(`${name}: ${Buffer.from(text.replace(/[\r\n\0]/g, '')).toString('latin1')}\r\n`),
    ),
  ),
  parser('message head', ['A', ':', ' ', '\t', '\r\n', '\r\n ', 'From: ', '\u0000', '\x80'], (text) =>
    atOnce(splitHeader(Buffer.from(text, 'latin1'))),
  ),
  parser('SMTP path', ['<', '>', '@', ':', ',', '"', '\\', 'a', '.', ' ', '[', ']', '=', 'SIZE'], (text) =>
    parsePath('RCPT TO', Buffer.from(`RCPT TO:<${text}`), { host: 'relay.test', sender: 'ship.example' }),
  ),
  parser(
    'X-SMTPAPI',
    ['{', '}', '[', ']', '"', ':', ',', '"to"', '"sub"', '"a"', '1', '\\', '=?utf-8?Q?', '?=', ' '],
    (text) => atOnce(readSmtpApi(text, new Date(0))),
  ),
  parser('SMTP reply', ['250', '-', ' ', '\r\n', '\n', 'a', '5.1.1', '\0', '\x1b'], (text) => [
    ...new ReplyReader().push(Buffer.from(text)),
  ]),
  parser('bounce class', REPLY, (text) => bounceClass('', text.slice(0, 1024))),
  parser(
    'returned message',
    [
      ...MIME,
      'From: mailer-daemon',
      'Content-Type: message/delivery-status',
      'Final-Recipient: ',
      'Diagnostic-Code: ',
      'The following address(es) failed:',
      '>>> DATA',
      '550 ',
      '5.1.1',
      'a@b.c',
    ],
    (text) => readReturn(Buffer.from(text, 'latin1')),
  ),
  parser('asked wait', REPLY, (text) => retryAfterOf(text.slice(0, 1024))),
  parser('HTML check', CSS, checkHtml),
  parser('codes of the inbox', CODES, (text) => codesOf({ subject: text, text, html: text })),
  parser('links of the inbox', LINKS, (text) => [htmlPartsOf(text), linksOfText(text)]),
]
