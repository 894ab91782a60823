import { gzipSync } from 'node:zlib'
import { rowsOf } from '../row.ts'
import { leastV3, type Stage } from '../stage.ts'
import { fill, kB, MB, many } from '../text.ts'

const zipped = (stage: Stage, body: string | Buffer): Promise<string> =>
  stage.v3('/mail/send', { body: gzipSync(body), headers: { 'content-encoding': 'gzip' } })
const zippedMail = (stage: Stage, extra: Readonly<Record<string, unknown>>): Promise<string> =>
  zipped(stage, JSON.stringify({ ...leastV3(stage.sender), ...extra }))
const to = [{ email: 'lena@open.example' }]
const texts = (count: number, name: (at: number) => string, value: (at: number) => string): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [name(at), value(at)]))
const html = (value: string) => ({ content: [{ type: 'text/html', value }] })

/** Values that name sections, whose texts name sections: as deep as they go. */
function tower(width: number, depth: number): Record<string, string> {
  const sections: Record<string, string> = {}
  for (let level = 0; level < depth; level++) sections[`-s${level}-`] = fill(`-s${level + 1}-`, width * 4)
  return sections
}

/** POST /v3/mail/send: JSON, gzip, the rules, substitutions and sections. */
export const V3_MAIL = rowsOf(
  'api',
  {
    'v3 gzip: a substitution key of 3 MB': (stage) =>
      zippedMail(stage, { ...html('x'), personalizations: [{ to, substitutions: { [fill('a', 3 * MB)]: 'b' } }] }),
    'v3 gzip: 300 substitution keys of 9,999': (stage) =>
      zippedMail(stage, {
        ...html('x'),
        personalizations: [
          {
            to,
            substitutions: texts(
              300,
              (at) => `${fill('ab', 9990)}${at}`,
              () => 'b',
            ),
          },
        ],
      }),
    'v3 gzip: 250 section names of 9,999': (stage) =>
      zippedMail(stage, {
        ...html('-k-'),
        personalizations: [{ to, substitutions: { '-k-': 'x' } }],
        sections: texts(
          250,
          (at) => `${at}${fill('a', 9990)}`,
          () => 'b',
        ),
      }),
    'v3 gzip: 250 section names of 9,999 that end differently': (stage) =>
      zippedMail(stage, {
        ...html('-k-'),
        personalizations: [{ to, substitutions: { '-k-': 'x' } }],
        sections: texts(
          250,
          (at) => `${fill('a', 9990)}${at}`,
          () => 'b',
        ),
      }),
    'v3 gzip: a substitution key of 9,900 for each of 1,000 recipients': (stage) =>
      zippedMail(stage, {
        ...html('x'),
        personalizations: Array.from({ length: 1000 }, (_, at) => ({
          to: [{ email: `r${at}@open.example` }],
          substitutions: { [`${fill('a', 9900)}${at}`]: 'b' },
        })),
      }),
    'v3 gzip: 100 substitution keys of aaa and bbb for each of 100 recipients': (stage) =>
      zippedMail(stage, {
        ...html(fill('ab', 100 * kB)),
        personalizations: Array.from({ length: 100 }, (_, at) => ({
          to: [{ email: `r${at}@open.example` }],
          substitutions: texts(
            90,
            (key) => `${at}b${fill('a', key)}b`,
            () => 'c',
          ),
        })),
      }),
    'v3 gzip: 2,000 keys of 4,000, all different': (stage) =>
      zippedMail(stage, {
        ...html('x'),
        personalizations: [
          {
            to,
            substitutions: texts(
              2000,
              (at) => fill(`${at}-`, 4000),
              () => 'b',
            ),
          },
        ],
      }),
    'v3: 9,999 substitutions of 1,000 recipients': (stage) =>
      stage.mail({
        ...html(fill('-k1-', 100 * kB)),
        personalizations: Array.from({ length: 1000 }, (_, at) => ({
          to: [{ email: `r${at}@open.example` }],
          substitutions: texts(
            10,
            (key) => `-k${at}-${key}-`,
            () => 'b',
          ),
        })),
      }),
    'v3: keys that begin alike, content that nearly has them': (stage) =>
      stage.mail({
        ...html(fill('a', 5 * MB)),
        personalizations: [
          {
            to,
            substitutions: texts(
              90,
              (at) => `${fill('a', 90)}${String.fromCharCode(65 + (at % 26))}${at}`,
              () => 'b',
            ),
          },
        ],
      }),
    'v3: content of 5 MB of one key with a value of 2 kB': (stage) =>
      stage.mail({
        ...html(fill('-k-', 5 * MB)),
        personalizations: [{ to, substitutions: { '-k-': fill('v', 2000) } }],
      }),
    'v3: sections of sections, 4 deep and 2 kB wide': (stage) =>
      stage.mail({
        ...html(fill('-k-', 300)),
        sections: tower(500, 6),
        personalizations: [{ to, substitutions: { '-k-': '-s0-' } }],
      }),
    'v3: sections that name themselves': (stage) =>
      stage.mail({
        ...html(fill('-k-', 30 * kB)),
        sections: { '-s-': fill('-s-', 6000) },
        personalizations: [{ to, substitutions: { '-k-': '-s-' } }],
      }),
    'v3: sections of nothing, named 300,000 times': (stage) =>
      stage.mail({
        ...html(fill('-k-', 900 * kB)),
        sections: { '-s-': '' },
        personalizations: [{ to, substitutions: { '-k-': fill('-s-', 1500) } }],
      }),
    'v3 gzip: 40 MB of blanks': (stage) => zipped(stage, fill(' ', 39 * MB)),
    'v3 gzip: 400 MB of blanks': (stage) => zipped(stage, Buffer.alloc(400 * MB, ' ')),
    'v3 gzip: 10,000 members': (stage) => zipped10k(stage),
    'v3 gzip: no gzip at all': (stage) =>
      stage.v3('/mail/send', { body: Buffer.alloc(20 * MB, 'x'), headers: { 'content-encoding': 'gzip' } }),
    'v3 gzip: 499,000 values': (stage) => zippedMail(stage, { x: Array(499_000).fill({}) }),
    'v3 gzip: 499,000 members of headers': (stage) =>
      zippedMail(stage, {
        headers: texts(
          499_000,
          (at) => `x-${at}`,
          () => 'b',
        ),
      }),
    'v3 gzip: 499,000 custom arguments': (stage) =>
      zippedMail(stage, {
        custom_args: texts(
          499_000,
          (at) => `x${at}`,
          () => 'b',
        ),
      }),
    'v3: 100,000 personalizations': (stage) => stage.mail({ personalizations: Array(100_000).fill({ to }) }),
    'v3: 400,000 recipients of one personalization': (stage) =>
      stage.mail({ personalizations: [{ to: Array(200_000).fill({ email: 'a@b.example' }) }] }),
    'v3: 100,000 recipients that are wrong': (stage) =>
      stage.mail({ personalizations: [{ to: Array(100_000).fill({ email: 1 }) }] }),
    'v3: 400,000 values that are wrong': (stage) => stage.mail({ reply_to_list: Array(400_000).fill(1) }),
    'v3: 400,000 categories': (stage) => stage.mail({ categories: Array(400_000).fill('berth') }),
    'v3: 400,000 contents': (stage) => stage.mail({ content: Array(200_000).fill({ type: 'text/plain' }) }),
    'v3: 100,000 attachments': (stage) =>
      stage.mail({ attachments: Array(100_000).fill({ content: 'YQ==', filename: 'a.txt' }) }),
    'v3: an attachment of 26 MB of line ends': (stage) =>
      stage.mail({ attachments: [{ content: fill('\r\n', 13 * MB), filename: 'a.txt' }] }),
    'v3: an attachment of 28 MB, wrong at its end': (stage) =>
      stage.mail({ attachments: [{ content: `${fill('YWJj', 28 * MB)}!`, filename: 'a.txt' }] }),
    'v3: an attachment type of 10 MB': (stage) =>
      stage.mail({ attachments: [{ content: 'YQ==', filename: 'a', type: `text/${fill('a;', 10 * MB)}` }] }),
    'v3: a file name of 10 MB': (stage) =>
      stage.mail({ attachments: [{ content: 'YQ==', filename: fill('é/', 10 * MB) }] }),
    'v3: a content id of 10 MB': (stage) =>
      stage.mail({
        attachments: [{ content: 'YQ==', filename: 'a', disposition: 'inline', content_id: fill('<', 10 * MB) }],
      }),
    'v3: a content type of 10 MB of ;': (stage) =>
      stage.mail({ content: [{ type: `text/html${fill(';', 10 * MB)}`, value: 'x' }] }),
    'v3: an address of 10 MB of a@': (stage) =>
      stage.mail({ personalizations: [{ to: [{ email: fill('a@', 10 * MB) }] }] }),
    'v3: a name of 10 MB of quotes': (stage) =>
      stage.mail({ from: { email: `a@${stage.sender.domain}`, name: fill('"', 10 * MB) } }),
    'v3: groups to display, 400,000': (stage) =>
      stage.mail({ asm: { group_id: 1, groups_to_display: Array(400_000).fill(1) } }),
    'v3: a batch id of 10 MB': (stage) => stage.mail({ batch_id: fill('a', 10 * MB) }),
    'v3: a template id of 10 MB': (stage) => stage.mail({ template_id: `d-${fill('a', 10 * MB)}` }),
    'v3: a footer of 10 MB of <%asm_': (stage) =>
      stage.mail({
        ...html(fill('<%asm_group_unsubscribe', 5 * MB)),
        mail_settings: { footer: { enable: true, html: fill('<%asm_', MB) } },
      }),
    'v3: a subscription tag of 60 kB in 5 MB': (stage) =>
      stage.mail({
        ...html(fill('a', 5 * MB)),
        tracking_settings: { subscription_tracking: { enable: true, substitution_tag: `${fill('a', 60 * kB)}b` } },
      }),
    'v3: link parameters of 60 kB on 1,000 links': (stage) =>
      stage.mail({
        ...html(many(1000, (at) => `<a href="http://a.example/?utm_source=${at}">b</a>`)),
        tracking_settings: {
          ganalytics: { enable: true, utm_source: fill('é', 20 * kB), utm_medium: fill('%', 20 * kB) },
        },
      }),
    'v3: a calendar of 10 MB': (stage) =>
      stage.mail({ content: [...html('x').content, { type: 'text/calendar', value: fill('METHOD:\r\n', 10 * MB) }] }),
    'v3: a header of 4,096 letters, 50 times': (stage) =>
      stage.mail({
        headers: texts(
          50,
          (at) => `X-H${at}`,
          () => fill('é', 4096),
        ),
      }),
    'v3: 1,000 recipients with data of 10 kB': (stage) =>
      stage.mail({
        personalizations: Array.from({ length: 1000 }, (_, at) => ({
          to: [{ email: `r${at}@open.example` }],
          dynamic_template_data: { list: Array(40).fill({ a: fill('b', 200) }) },
        })),
      }),
    'v3: 1,000 visible recipients with names of 450': (stage) =>
      stage.mail({
        personalizations: [
          { to: Array.from({ length: 1000 }, (_, at) => ({ email: `r${at}@open.example`, name: fill('é"', 450) })) },
        ],
      }),
    'v3: plain text of 1 MB of http://': (stage) =>
      stage.mail({ content: [{ type: 'text/plain', value: fill('http://', MB - 10) }] }),
    'v3: plain text of one link of 1 MB of brackets': (stage) =>
      stage.mail({ content: [{ type: 'text/plain', value: `http://a.example/${fill('()', MB - 100)}` }] }),
  },
  [
    'v3 gzip: a substitution key of 9,900 for each of 1,000 recipients',
    'v3 gzip: 250 section names of 9,999 that end differently',
    'v3: sections of sections, 4 deep and 2 kB wide',
  ],
)

function zipped10k(stage: Stage): Promise<string> {
  const one = gzipSync(' ')
  return stage.v3('/mail/send', {
    body: Buffer.concat(Array(10_000).fill(one)),
    headers: { 'content-encoding': 'gzip' },
  })
}
