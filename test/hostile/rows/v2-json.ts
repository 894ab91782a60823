import { rowsOf } from '../row.ts'
import { least, type Stage } from '../stage.ts'
import { fill, kB, MB, many } from '../text.ts'

const json = (stage: Stage, body: string): Promise<string> => stage.call('/v2/sendEmail', { body })
/** The least body with a member more, whose value is JSON text. */
const beside = (stage: Stage, name: string, value: string): Promise<string> =>
  json(stage, `${JSON.stringify(least(stage.sender)).slice(0, -1)},"${name}":${value}}`)
const attributes = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`a${at}`, 'b']))

/** POST /v2/sendEmail as JSON: the parser, the schema, the rules, merge tags and addresses. */
export const V2_JSON = rowsOf(
  'api',
  {
    'v2 JSON: 100,000 personalizations': (stage) =>
      beside(stage, 'personalizations', `[${many(100_000, () => '{"recipient":"lena@open.example"}', ',')}]`),
    'v2 JSON: 10,000 personalizations with 45 attributes each': (stage) =>
      stage.send({
        personalizations: Array.from({ length: 10_000 }, (_, at) => ({
          recipient: `r${at}@open.example`,
          attributes: attributes(45),
        })),
      }),
    'v2 JSON: four calls at once of 5 recipients with 90,000 attributes, no name twice': async (stage) => {
      const recipient = (call: number, at: number) => ({
        recipient: `r${at}@open.example`,
        attributes: Object.fromEntries(Array.from({ length: 90_000 }, (_, name) => [`k${call}${at}_${name}`, 'v'])),
      })
      const calls = [0, 1, 2, 3].map((call) =>
        stage.send({ personalizations: Array.from({ length: 5 }, (_, at) => recipient(call, at)) }),
      )
      return (await Promise.all(calls)).join(', ')
    },
    'v2 JSON: 499,000 empty objects': (stage) => beside(stage, 'x', `[${many(499_000, () => '{}', ',')}]`),
    'v2 JSON: 499,000 keys of one object': (stage) =>
      beside(stage, 'x', `{${many(499_000, (at) => `"k${at}":0`, ',')}}`),
    'v2 JSON: 499,000 keys that are sparse indexes': (stage) =>
      beside(stage, 'x', `{${many(499_000, (at) => `"${at * 8191}":0`, ',')}}`),
    'v2 JSON: 28 MB of empty objects': (stage) => beside(stage, 'x', `[${fill('{},', 28 * MB)}{}]`),
    'v2 JSON: lists nested 64 deep, again and again': (stage) =>
      beside(stage, 'x', `[${many(8000, () => `${'['.repeat(60)}${']'.repeat(60)}`, ',')}]`),
    'v2 JSON: a million brackets deep': (stage) => beside(stage, 'x', '['.repeat(MB)),
    'v2 JSON: 28 MB of backslashes': (stage) => beside(stage, 'x', `"${fill('\\\\', 28 * MB)}"`),
    'v2 JSON: 28 MB of escaped quotes': (stage) => beside(stage, 'x', `"${fill('\\"', 28 * MB)}"`),
    'v2 JSON: 28 MB of Unicode escapes': (stage) => beside(stage, 'x', `"${fill('\\u00e9', 28 * MB - 4)}"`),
    'v2 JSON: a number of 28 MB': (stage) => beside(stage, 'x', fill('7', 28 * MB)),
    'v2 JSON: a fraction of 28 MB': (stage) => beside(stage, 'x', `0.${fill('7', 28 * MB)}`),
    'v2 JSON: 28 MB of blanks': (stage) => json(stage, `${fill(' ', 28 * MB)}{}`),
    'v2 JSON: 28 MB that are not JSON at the end': (stage) => json(stage, `{"a":"${fill('x', 28 * MB)}"`),
    'v2 JSON: content of 28 MB': (stage) => stage.send({ content: fill('All berths are taken. ', 28 * MB) }),
    'v2 JSON: content of 10 MB of merge tags': (stage) =>
      stage.send({
        content: fill('[%a1%]', 10 * MB),
        personalizations: [{ recipient: 'lena@open.example', attributes: attributes(1000) }],
      }),
    'v2 JSON: content of 10 MB of [%': (stage) => stage.send({ content: fill('[%', 10 * MB) }),
    'v2 JSON: content of 10 MB of [% and blanks': (stage) => stage.send({ content: fill('[% ', 10 * MB) }),
    'v2 JSON: content of 10 MB of <': (stage) => stage.send({ content: fill('<', 10 * MB) }),
    'v2 JSON: content of 1 MB of <a href=': (stage) => stage.send({ content: fill('<a href="', MB - 100) }),
    'v2 JSON: content of 1 MB of links': (stage) =>
      stage.send({ content: fill('<a href="http://a.example/">b</a>', MB - 100) }),
    'v2 JSON: content of one tag with 300,000 attributes': (stage) =>
      stage.send({ content: `<a ${fill('b=c ', MB - 200)}>` }),
    'v2 JSON: content of 1 MB of &amp; in one link': (stage) =>
      stage.send({ content: `<a href="http://a.example/?${fill('&amp;', MB - 200)}">b</a>` }),
    'v2 JSON: content of 1 MB of <!--': (stage) => stage.send({ content: fill('<!--', MB - 100) }),
    'v2 JSON: content of 1 MB of <style> that never ends': (stage) =>
      stage.send({ content: fill('<style></styl', MB - 100) }),
    'v2 JSON: content of 10 MB of lone surrogates': (stage) => beside(stage, 'content', `"${fill('\\ud800', 9 * MB)}"`),
    'v2 JSON: a subject of 28 MB': (stage) => stage.send({ subject: fill('é', 14 * MB) }),
    'v2 JSON: a subject of 4,096 letters of four octets': (stage) => stage.send({ subject: fill('𝔟', 4096) }),
    'v2 JSON: a sender name of 28 MB of quotes': (stage) =>
      stage.send({ from: { fromEmail: 'a@b.example', fromName: fill('"', 28 * MB) } }),
    'v2 JSON: a recipient of 28 MB of @': (stage) =>
      stage.send({ personalizations: [{ recipient: fill('@', 28 * MB) }] }),
    'v2 JSON: a recipient of 500 combining marks': (stage) =>
      stage.send({ personalizations: [{ recipient: `${fill('\u0315\u0300\u05ae\u0300', 300)}@a.example` }] }),
    'v2 JSON: 10,000 recipients of international names': (stage) =>
      stage.send({
        personalizations: Array.from({ length: 10_000 }, (_, at) => ({
          recipient: `ü@${'ö'.repeat(20)}${at}.${'ä'.repeat(30)}.example`,
        })),
      }),
    'v2 JSON: copies of 28 MB of commas': (stage) =>
      stage.send({ personalizations: [{ recipient: 'lena@open.example', recipient_cc: fill(',', 28 * MB) }] }),
    'v2 JSON: 400,000 copies': (stage) =>
      stage.send({
        personalizations: [{ recipient: 'lena@open.example', recipient_cc: Array(400_000).fill('b@open.example') }],
      }),
    'v2 JSON: 450,000 extra headers': (stage) =>
      stage.send({ personalizations: [{ recipient: 'lena@open.example', 'x-headers': attributes(450_000) }] }),
    'v2 JSON: 50 extra headers of 4,096 letters': (stage) =>
      stage.send({
        personalizations: [
          {
            recipient: 'lena@open.example',
            'x-headers': Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`X-H${at}`, fill('é ', 4096)])),
          },
        ],
      }),
    'v2 JSON: tags of 28 MB of commas': (stage) => stage.send({ tags: fill(',', 28 * MB) }),
    'v2 JSON: 490,000 tags': (stage) => stage.send({ tags: Array(490_000).fill('berth') }),
    'v2 JSON: 10,000 attached files': (stage) =>
      stage.send({
        attachments: Array.from({ length: 10_000 }, (_, at) => ({ fileName: `${at}.txt`, fileContent: 'YQ==' })),
      }),
    'v2 JSON: an attached file of 20 MB': (stage) =>
      stage.send({ attachments: [{ fileName: 'a.bin', fileContent: fill('YWJj', 26 * MB) }] }),
    'v2 JSON: an attached file of 26 MB of line ends': (stage) =>
      beside(stage, 'attachments', `[{"fileName":"a.bin","fileContent":"${fill('\\r\\n', 26 * MB)}"}]`),
    'v2 JSON: an attached file of 28 MB of =': (stage) =>
      stage.send({ attachments: [{ fileName: 'a.bin', fileContent: fill('=', 28 * MB) }] }),
    'v2 JSON: a file name of 28 MB of dots': (stage) =>
      stage.send({ attachments: [{ fileName: fill('.', 28 * MB), fileContent: 'YQ==' }] }),
    'v2 JSON: file ids of 28 MB of commas': (stage) => stage.send({ attachmentId: fill('1,', 28 * MB) }),
    'v2 JSON: a moment of 28 MB of digits': (stage) => stage.send({ schedule: fill('1', 28 * MB) }),
    'v2 JSON: a moment of 28 MB of date': (stage) =>
      stage.send({ schedule: `2026-11-22T00:00:00.${fill('0', 28 * MB)}` }),
    'v2 JSON: a template number of 28 MB': (stage) => stage.send({ templateId: fill('1', 28 * MB) }),
    'v2 JSON: a reply address of 28 MB of blanks': (stage) => stage.send({ replyToId: fill(' ', 28 * MB) }),
    'v2 JSON: a footer flag of 28 MB': (stage) => stage.send({ settings: { footer: fill('1', 28 * MB) } }),
    'v2 JSON: AMP of 10 MB of <': (stage) => stage.send({ ampcontent: fill('<', 10 * MB) }),
    'v2 JSON: content of 10 MB in one line for 1,000 recipients': (stage) =>
      stage.send({
        content: fill('All berths are taken. ', 10 * MB),
        personalizations: Array.from({ length: 1000 }, (_, at) => ({
          recipient: `r${at}@open.example`,
          attributes: { a: String(at) },
        })),
      }),
    'v2 JSON: content of 300 kB of entities': (stage) =>
      stage.send({ content: fill('&CounterClockwiseContourIntegral', 300 * kB) }),
  },
  ['v2 JSON: 100,000 personalizations', 'v2 JSON: content of 10 MB of [%', 'v2 JSON: 28 MB of empty objects'],
)
