import t from 'tap'
import { v2Body } from '../../helpers/send.ts'
import { makeArrivals } from '../arrivals.ts'
import { call, errorText, refused } from '../call.ts'

const { base, sender, deliver } = await makeArrivals(t)
const RULE = 'must be printable ASCII, without encoded words and in words of at most 900 characters'

const toLena = (headers: Record<string, string>, attributes: Record<string, string> = {}) => ({
  personalizations: [{ recipient: 'lena@harbor.example', attributes, 'x-headers': headers }],
})

async function problemOf(body: Record<string, unknown>): Promise<string> {
  const answer = await call(base, { headers: { api_key: sender.apiKey }, body: v2Body(sender, body) })
  refused(t, answer, [400, 113])
  return errorText(answer)
}

t.test('a List-Unsubscribe that would need an encoded word is refused, and named', async (t) => {
  for (const name of ['List-Unsubscribe', 'list-unsubscribe-post']) {
    for (const value of [
      '<https://quay.example/köln>',
      '=?utf-8?Q?x?= <https://quay.example/a>',
      `<${'a'.repeat(900)}>`,
    ]) {
      t.equal(
        await problemOf(toLena({ [name]: value })),
        `Parameter [personalizations[0].x-headers.${name}] is invalid: ${RULE}`,
      )
    }
  }
})

t.test('so is one to which an attribute adds such a character', async (t) => {
  const field = { 'List-Unsubscribe': '<https://quay.example/[%PORT%]>' }
  t.equal(
    await problemOf(toLena(field, { PORT: 'köln' })),
    `Parameter [personalizations[0].attributes] is invalid: value used in List-Unsubscribe ${RULE}`,
  )
  const { raw } = await deliver(toLena({ ...field, 'X-Port': '[%PORT%] ü' }, { PORT: 'calais' }))
  t.match(raw, /^List-Unsubscribe: <https:\/\/quay\.example\/calais>\r$/m)
  t.match(raw, /^X-Port: =\?utf-8\?B\?/m, 'other fields are encoded')
})

const IDS = 'must have its message ids in angle brackets and in printable ASCII, without encoded words'
t.test('References and In-Reply-To whose ids are not ASCII are refused, and named', async (t) => {
  for (const name of ['References', 'in-reply-to']) {
    for (const value of [
      '<größe@b.example>',
      '<a@b.example> <a@köln.example>',
      'größe@b.example',
      '<=?utf-8?Q?a?=@b.example>',
    ])
      t.equal(
        await problemOf(toLena({ [name]: value })),
        `Parameter [personalizations[0].x-headers.${name}] is invalid: ${IDS}`,
        value,
      )
  }
  t.match(
    await problemOf(toLena({ 'Message-ID': '<größe@b.example>' })),
    'x-headers.Message-ID] is invalid: header is reserved',
  )
  t.equal(
    await problemOf(toLena({ References: '<[%PORT%]@b.example>' }, { PORT: 'köln' })),
    `Parameter [personalizations[0].attributes] is invalid: value used in References ${IDS}`,
  )
  const { raw } = await deliver(
    toLena({ References: '<[%PORT%]@b.example>', 'In-Reply-To': 'Größe <a=?@b.example>' }, { PORT: 'calais' }),
  )
  t.match(raw, /^References: <calais@b\.example>\r$/m)
  t.match(raw, /^In-Reply-To: =\?utf-8\?B\?[\w+/=]+\?= <a=\?@b\.example>\r$/m, 'words beside ids are encoded')
})

t.test('ids and addresses in brackets that cannot be folded are refused, and named', async (t) => {
  for (const name of ['References', 'in-reply-to', 'List-Help', 'Disposition-Notification-To']) {
    t.equal(
      await problemOf(toLena({ [name]: `<a@b.example> <${'a'.repeat(900)}@b.example>` })),
      `Parameter [personalizations[0].x-headers.${name}] is invalid: must be in words of at most 900 characters`,
    )
  }
  const ids = Array.from({ length: 40 }, (_, at) => `<${'a'.repeat(60)}.${at}@quay.example>`)
  const { raw } = await deliver(toLena({ References: ids.join(' ') }))
  t.strictSame(
    raw
      .replaceAll('\r\n ', ' ')
      .match(/^References: (.*)\r$/m)?.[1]
      ?.split(' '),
    ids,
  )
})

t.test('a long List-Unsubscribe is folded, never encoded', async (t) => {
  const [url, address] = [`<https://quay.example/${'a'.repeat(850)}>`, '<mailto:leave@quay.example>']
  const { raw } = await deliver(toLena({ 'List-Unsubscribe': `${url}, ${address}` }))
  t.ok(raw.includes(`\r\nList-Unsubscribe: ${url},\r\n ${address}\r\n`))
})

t.test('beyond ASCII, other fields with URLs have percent signs, and only their names are encoded words', async (t) => {
  const { raw } = await deliver(
    toLena({
      'List-Help': '<https://quay.example/köln?a=ü>',
      'List-Archive': '<https://köln.example/ü>',
      'List-Id': 'Fähren <ferries.quay.example>',
      'Disposition-Notification-To': 'Jürgen <desk@quay.example>',
    }),
  )
  t.match(raw, /^List-Help: <https:\/\/quay\.example\/k%C3%B6ln\?a=%C3%BC>\r$/m)
  t.match(raw, /^List-Archive: <https:\/\/xn--kln-sna\.example\/%C3%BC>\r$/m)
  t.match(raw, /^List-Id: =\?utf-8\?B\?[\w+/=]+\?= <ferries\.quay\.example>\r$/m)
  t.match(raw, /^Disposition-Notification-To: =\?utf-8\?B\?[\w+/=]+\?= <desk@quay\.example>\r$/m)
})
