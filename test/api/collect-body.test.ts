import { createHash, randomBytes } from 'node:crypto'
import { createGunzip, gzipSync } from 'node:zlib'
import Fastify from 'fastify'
import t from 'tap'
import { collectBody } from '../../packages/api/src/http/collect-body.ts'
import { LARGE_BODY } from '../../packages/api/src/http/large-body.ts'
import { countBytes } from '../../packages/api/src/http/zipped.ts'

const LIMIT = 4 * 1024 * 1024
const sha = (octets: Buffer): string => createHash('sha256').update(octets).digest('hex')

const app = Fastify()
app.removeAllContentTypeParsers()
app.addHook('preParsing', async (request, _reply, payload) =>
  request.headers['content-encoding'] ? countBytes(payload as never, payload.pipe(createGunzip())) : payload,
)
app.addContentTypeParser(
  '*',
  collectBody(LIMIT, (_request, body, done) => done(null, sha(body))),
)
app.post('/', async ({ body }) => body)
const url = await app.listen({ host: '127.0.0.1', port: 0 })
t.teardown(() => app.close())

/** In pieces, if it is to be chunked. */
async function post(body: Buffer, { chunked = false, zipped = false } = {}): Promise<[status: number, text: string]> {
  const octets = zipped ? gzipSync(body) : body
  const pieces = new ReadableStream({
    start(controller) {
      for (let at = 0; at < octets.length; at += 30_000) controller.enqueue(octets.subarray(at, at + 30_000))
      controller.close()
    },
  })
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'a/b', ...(zipped ? { 'content-encoding': 'gzip' } : {}) },
    body: chunked ? pieces : new Uint8Array(octets),
    ...(chunked ? { duplex: 'half' } : {}),
  } as RequestInit)
  return [answer.status, await answer.text()]
}

t.test('a body arrives octet for octet, of whatever length and however it comes', async (t) => {
  for (const length of [1, LARGE_BODY - 1, LARGE_BODY, LARGE_BODY + 1, 1_000_003, 3_000_000, LIMIT - 10_000]) {
    const body = randomBytes(length)
    for (const how of [{}, { chunked: true }, { zipped: true }, { zipped: true, chunked: true }]) {
      t.strictSame(await post(body, how), [200, sha(body)], `${length} ${JSON.stringify(how)}`)
    }
  }
})

t.test('one that is longer than it may be is refused, announced or not', async (t) => {
  t.equal((await post(Buffer.alloc(LIMIT)))[0], 200)
  const body = Buffer.alloc(LIMIT + 1)
  for (const how of [{}, { chunked: true }, { zipped: true }])
    t.equal((await post(body, how))[0], 413, JSON.stringify(how))
})
