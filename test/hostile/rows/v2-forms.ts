import { FORM } from '../../api/call.ts'
import { rowsOf } from '../row.ts'
import type { Stage } from '../stage.ts'
import { fill, kB, MB, many } from '../text.ts'

const form = (stage: Stage, body: string | Buffer): Promise<string> =>
  stage.call('/v2/sendEmail', { body, headers: FORM })
const parts = (stage: Stage, body: string | Buffer, type = 'multipart/form-data; boundary=x'): Promise<string> =>
  stage.call('/v2/sendEmail', { body, headers: { 'content-type': type } })
const part = (head: string, value = 'v'): string => `--x\r\n${head}\r\n\r\n${value}\r\n`
const field = (name: string, value = 'v'): string => part(`Content-Disposition: form-data; name="${name}"`, value)

/** A call that is right but for its attribute. */
const attribute = (stage: Stage, value: string): Promise<string> =>
  parts(
    stage,
    [
      field('personalizations[0][recipient]', 'lena@open.example'),
      field('from[fromEmail]', `desk@${stage.sender.domain}`),
      field('subject', 'Berth 4'),
      field('content', '<p>Your berth is ready.</p>'),
      field('personalizations[0][attributes][A]', value),
      '--x--\r\n',
    ].join(''),
  )

/** POST /v2/sendEmail as an HTML form: urlencoded and multipart. */
export const V2_FORMS = rowsOf(
  'api',
  {
    'v2 form: 100,000 keys a[bN][c][d][e]': (stage) =>
      form(
        stage,
        many(100_000, (at) => `a[b${at}][c][d][e]=v`, '&'),
      ),
    'v2 form: 199,000 keys': (stage) =>
      form(
        stage,
        many(199_000, (at) => `k${at}=v`, '&'),
      ),
    'v2 form: 199,000 times a[]': (stage) => form(stage, fill('a[]=v&', 199_000 * 6)),
    'v2 form: 199,000 places of a list, backwards': (stage) =>
      form(
        stage,
        many(199_000, (at) => `a[${199_000 - at}]=v`, '&'),
      ),
    'v2 form: 199,000 personalizations[N][attributes][N]': (stage) =>
      form(
        stage,
        many(199_000, (at) => `personalizations[${at % 10_000}][attributes][a${at}]=v`, '&'),
      ),
    'v2 form: 28 MB of &': (stage) => form(stage, fill('&', 28 * MB)),
    'v2 form: 28 MB of =': (stage) => form(stage, fill('=', 28 * MB)),
    'v2 form: 28 MB of %': (stage) => form(stage, `content=${fill('%', 28 * MB)}`),
    'v2 form: 28 MB of %41': (stage) => form(stage, `content=${fill('%41', 28 * MB)}`),
    'v2 form: 28 MB of %E2%82%AC': (stage) => form(stage, `content=${fill('%E2%82%AC', 28 * MB)}`),
    'v2 form: 28 MB of +': (stage) => form(stage, `content=${fill('+', 28 * MB)}`),
    'v2 form: a name of 28 MB of [': (stage) => form(stage, `a${fill('[', 28 * MB)}=v`),
    'v2 form: a name of 28 MB of [] and one more': (stage) => form(stage, `a${fill('[]', 28 * MB)}x=v`),
    'v2 form: 28 MB of names of []': (stage) => form(stage, fill(`a${fill('[]', 140)}x=v&`, 28 * MB)),
    'v2 form: data of 28 MB of brackets': (stage) => form(stage, `data=${fill('[', 28 * MB)}`),
    'v2 form: data of 9 MB of escaped objects': (stage) =>
      form(stage, `data=%7B%22x%22%3A%5B${fill('%7B%7D%2C', 4 * MB + 8 - ((4 * MB) % 9))}%7B%7D%5D%7D`),
    'v2 form: 28 MB of blanks before JSON': (stage) => form(stage, `${fill(' ', 28 * MB)}{}`),
    'v2 multipart: 28 MB of heads of 16 kB': (stage) =>
      parts(stage, `${fill(part(`Content-Disposition: form-data; name="a"; ${fill('x', 16_200)}`), 28 * MB)}--x--\r\n`),
    'v2 multipart: heads of 16 kB of "; a="': (stage) =>
      parts(
        stage,
        `${many(1700, () => part(`Content-Disposition: form-data; name="a"${fill('; b="', 16_200)}`))}--x--\r\n`,
      ),
    'v2 multipart: heads of 16 kB of quoted backslashes': (stage) =>
      parts(
        stage,
        `${many(1700, () => part(`Content-Disposition: form-data; name="${fill('\\\\', 16_200)}`))}--x--\r\n`,
      ),
    'v2 multipart: heads of 16 kB of blanks': (stage) =>
      parts(stage, `${many(1700, () => part(`Content-Disposition: form-data;${fill(' ', 16_200)}x`))}--x--\r\n`),
    'v2 multipart: heads of 16 kB of name*': (stage) =>
      parts(
        stage,
        `${many(1700, () => part(`Content-Disposition: form-data; name="a"; filename*=utf-8''${fill('%e2%82', 16_000)}`))}--x--\r\n`,
      ),
    'v2 multipart: heads of 8,000 fields': (stage) =>
      parts(
        stage,
        `${many(1700, () => part(`Content-Disposition: form-data; name="a"${fill('\r\n:', 16_000)}`))}--x--\r\n`,
      ),
    'v2 multipart: heads of folds': (stage) =>
      parts(
        stage,
        `${many(1700, () => part(`Content-Disposition: form-data; name="a"${fill('\r\n ', 16_000)}`))}--x--\r\n`,
      ),
    'v2 multipart: 199,000 fields': (stage) => parts(stage, `${many(199_000, (at) => field(`k${at}`))}--x--\r\n`),
    'v2 multipart: 199,000 files': (stage) =>
      parts(
        stage,
        `${many(199_000, (at) => part(`Content-Disposition: form-data; name="a"; filename="${at}"`))}--x--\r\n`,
      ),
    'v2 multipart: 450,000 values of JSON in each of four fields': (stage) => {
      const values = (prefix: string) =>
        `{"a":[${many(450_000, (at) => (at % 90_000 === 0 ? `${at ? '},' : ''}{"${prefix}${at}":"v"` : `,"${prefix}${at}":"v"`))}}]}`
      const names = ['personalizations', 'from', 'settings', 'attachments']
      return parts(stage, `${names.map((name, at) => field(name, values(`k${at}_`))).join('')}--x--\r\n`)
    },
    'v2 multipart: an attribute of 28 MB of quotes and one wide letter': (stage) =>
      attribute(stage, `\u20ac${fill('"', 28 * MB)}`),
    'v2 multipart: an attribute of 28 MB of control characters': (stage) => attribute(stage, fill('\x01', 28 * MB)),
    'v2 multipart: 28 MB of all but a boundary': (stage) =>
      parts(
        stage,
        `${field('a')}${fill(`\r\n--${'y'.repeat(254)}`, 28 * MB)}`,
        `multipart/form-data; boundary=${'y'.repeat(255)}`,
      ),
    'v2 multipart: 28 MB without a boundary': (stage) => parts(stage, fill('\r\n-', 28 * MB)),
    'v2 multipart: a charset of 16 kB': (stage) =>
      parts(
        stage,
        `${part(`Content-Disposition: form-data; name="a"\r\nContent-Type: text/plain; charset=${fill('u', 16_000)}`)}--x--\r\n`,
      ),
    'v2 multipart: 14 MB in UTF-16 and Shift_JIS': (stage) =>
      parts(
        stage,
        `${['utf-16le', 'shift_jis'].map((charset) => part(`Content-Disposition: form-data; name="${charset}"\r\nContent-Type: text/plain; charset=${charset}`, fill('\u3042'.repeat(2), 4 * MB))).join('')}--x--\r\n`,
      ),
    'v2 multipart: a content type of 14 kB of boundary=': (stage) =>
      parts(stage, field('a'), `multipart/form-data${fill('; boundary=', 14 * kB)}`),
    'v2 multipart: a content type of 14 kB of blanks': (stage) =>
      parts(stage, field('a'), `multipart/form-data;${fill(' ', 14 * kB)}x`),
  },
  [
    'v2 form: 100,000 keys a[bN][c][d][e]',
    'v2 multipart: 28 MB of heads of 16 kB',
    'v2 multipart: an attribute of 28 MB of quotes and one wide letter',
    'v2 multipart: an attribute of 28 MB of control characters',
  ],
)
