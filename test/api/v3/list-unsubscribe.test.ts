import t from 'tap'
import { headerLines } from '../arrivals.ts'
import type { Fields } from './mail.ts'
import { makeMailArrivals } from './mail-arrivals.ts'

const { send, copies } = await makeMailArrivals(t)
const to = [{ email: 'lena@harbor.example' }]

/** The fields of the mail, and what the answer says to have ignored. */
async function sent(extra: Fields): Promise<{ ignored: unknown; fields: string[] }> {
  const answer = await send({ personalizations: [{ to }], ...extra })
  t.equal(answer.status, 202, answer.text)
  const [copy] = await copies(answer)
  return { ignored: answer.headers['ignored-parameters'], fields: headerLines(copy?.raw ?? '') }
}

t.test('a List-Unsubscribe that would need an encoded word is left out, and named', async (t) => {
  const headers = { 'List-Unsubscribe': '<https://quay.example/köln>', 'X-A': 'b' }
  for (const [extra, place] of [
    [{ headers }, 'headers'],
    [{ personalizations: [{ to, headers }] }, 'personalizations.0.headers'],
  ] as const) {
    const { ignored, fields } = await sent(extra)
    t.equal(ignored, `"${place}.List-Unsubscribe"`)
    t.notOk(fields.some((line) => line.startsWith('List-Unsubscribe')))
    t.ok(fields.includes('X-A: b'), 'the others stay')
  }
})

t.test('so are message ids beyond ASCII, names that are too long and values beyond 4096 characters', async (t) => {
  for (const [name, value] of [
    ['References', '<a@b.example> <größe@b.example>'],
    ['In-Reply-To', '<größe@b.example>'],
    ['Message-ID', '<größe@b.example>'],
    [`X-${'a'.repeat(75)}`, 'b'],
    ['X-Long', 'ab '.repeat(1400)],
  ] as const) {
    const { ignored, fields } = await sent({ headers: { [name]: value } })
    t.equal(ignored, `"headers.${name}"`)
    t.notOk(
      fields.some((line) => /^(?:References|In-Reply-To|X-a|X-Long)|größe/.test(line)),
      fields.join('\n'),
    )
    t.equal(fields.filter((line) => line.startsWith('Message-ID: ')).length, 1)
  }
})
