import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { longestTurnOf } from '../helpers/turns.ts'
import { type CallOptions, call, FORM, JSON_TYPE } from './call.ts'

/** Bodies below the size of a large one, whose cost is in what is made of their elements: they are not for the main loop. */
const service = await makeService(t)
const base = await service.openApi()
const { apiKey } = await service.makeSender()
const V2 = { api_key: apiKey, ...JSON_TYPE }
const V3 = { path: '/v3/mail/send', headers: { authorization: `Bearer ${apiKey}`, ...JSON_TYPE } }
/** Milliseconds of processor time of the main loop. */
const LIMIT = 25
const list = (count: number, element = '{}'): string => `[${Array(count).fill(element).join(',')}]`
const parts = (count: number): string =>
  '--B\r\nContent-Disposition: form-data; name="tags[]"\r\n\r\n\r\n'.repeat(count)

const BODIES: readonly (readonly [what: string, status: number, CallOptions])[] = [
  ['20,000 empty personalizations of v2', 400, { headers: V2, body: `{"personalizations":${list(20_000)}}` }],
  ['80,000 empty personalizations of v2', 400, { headers: V2, body: `{"personalizations":${list(80_000)}}` }],
  ['80,000 objects that v2 does not know', 400, { headers: V2, body: `{"x":${list(80_000)}}` }],
  [
    '25,000 addresses of a list',
    413,
    { headers: V2, path: '/v2/suppression', body: `{"email":${list(25_000, '"a@b.cd"')}}` },
  ],
  ['40,000 empty personalizations of v3', 400, { ...V3, body: `{"personalizations":${list(40_000)}}` }],
  ['80,000 empty recipients of v3', 400, { ...V3, body: `{"personalizations":[{"to":${list(80_000)}}]}` }],
  ['25,000 parameters of a form', 400, { headers: { ...V2, ...FORM }, body: Array(25_000).fill('tags[]=a').join('&') }],
  [
    '3,500 parts of a form',
    400,
    {
      headers: { api_key: apiKey, 'content-type': 'multipart/form-data; boundary=B' },
      body: `${parts(3500)}--B--\r\n`,
    },
  ],
]

for (const [what, status, options] of BODIES) {
  t.test(`${what} take no time of the main loop`, async (t) => {
    t.ok(Buffer.byteLength(String(options.body)) < 256 * 1024, 'is not a large body')
    const answer = await call(base, options)
    t.equal(answer.status, status, answer.text.slice(0, 200))
    const longest = await longestTurnOf(LIMIT, () => call(base, options))
    t.comment(`figures: ${what}: ${longest} ms`)
    t.ok(longest < LIMIT, `${longest} ms`)
  })
}
