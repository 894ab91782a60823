import type { IncomingMessage, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import {
  type Bounds,
  importAccount,
  openSource,
  type Part,
  SourceError,
} from '../../packages/cli/src/importing/index.ts'
import { SILENT } from '../../packages/cli/src/importing/progress.ts'
import { newTally } from '../../packages/cli/src/importing/tally.ts'
import { drained } from '../helpers/drained.ts'
import { makeService } from '../helpers/service.ts'
import { type Answers, startFake, startServer } from './fake-source.ts'

const { core, ...service } = await makeService(t)

/** As the command's, only that a test can wait for them. */
const BOUNDS: Bounds = {
  answerMs: 400,
  answerOctets: 200_000,
  tries: 3,
  pauseMs: 10,
  patienceMs: 5000,
  entries: 20_000,
  span: 600,
  templates: 100,
}

/** Copies what the fake has, and answers how it went. */
async function move(t: Test, from: Answers | string, parts: readonly Part[], bounds: Partial<Bounds> = {}) {
  const { accountId } = await service.makeSender()
  const base = typeof from === 'string' ? from : await startFake(t, from)
  const wholly = { ...BOUNDS, ...bounds }
  const source = openSource(base, 'the-key', wholly)
  const tally = newTally()
  const how = { core, accountId, source, bounds: wholly, dryRun: false, overwrite: false, tally, progress: SILENT }
  const error = await importAccount(how, parts).then(
    () => undefined,
    (error: unknown) => error,
  )
  return { accountId, tally, error, message: String((error as Error | undefined)?.message ?? '') }
}

type Reply = (request: IncomingMessage, response: ServerResponse, query: URLSearchParams) => unknown
const BOUNCES = '/v3/suppression/bounces'
const GROUPS = '/v3/asm/groups'
const group = { id: 1, name: 'news', description: '', is_default: false }

/** Answers with the first reaction, then the second …, at last with the group. */
function inTurn(...reactions: Reply[]): Reply {
  return (request, response, query) => {
    const next = reactions.shift()
    if (next) return next(request, response, query)
    response.end(JSON.stringify([group]))
  }
}

t.test('failures that pass are waited for: 429 until its reset, 503, a broken connection, a slow answer', async (t) => {
  const reset = Math.ceil(Date.now() / 1000) + 1
  let again = 0
  const passing: readonly [what: string, reply: Reply, least: number][] = [
    [
      'reset',
      (_, response) => response.writeHead(429, { 'x-ratelimit-reset': reset }).end(),
      reset * 1000 - Date.now(),
    ],
    ['Retry-After', (_, response) => response.writeHead(429, { 'retry-after': '1' }).end(), 1000],
    ['503', (_, response) => response.writeHead(503).end('<html>'), 10],
    ['broken', (_, response) => response.socket?.destroy(), 10],
    [
      'broken within',
      (_, response) => response.writeHead(200, { 'content-length': 99 }).write('[', () => response.destroy()),
      10,
    ],
    ['slow', () => {}, BOUNDS.answerMs],
    ['dripping', (_, response) => void drip(response), BOUNDS.answerMs],
  ]
  for (const [what, reply, least] of passing) {
    const begun = Date.now()
    const { error, tally } = await move(t, { [GROUPS]: inTurn(reply) }, ['groups'])
    t.equal(error, undefined, what)
    t.equal(tally.counts.groups.added, 1, what)
    t.ok(Date.now() - begun >= least - 50, `${what} was waited for`)
    again++
  }
  t.equal(again, passing.length)
})

t.test('patience ends: with the tries, and when the other side wants to be waited for longer', async (t) => {
  let asked = 0
  const never: readonly [reply: Reply, said: RegExp, tries: number][] = [
    [(_, response) => response.writeHead(500).end(), /\/v3\/asm\/groups: the source responded with status 500$/, 3],
    [() => {}, /no complete response within 0\.4 s/, 3],
    [(_, response) => void drip(response), /no complete response within 0\.4 s/, 3],
    [(_, response) => response.socket?.destroy(), /could not connect, or the connection was lost/, 3],
    [
      (_, response) => response.writeHead(429, { 'x-ratelimit-reset': 9_999_999_999 }).end(),
      /429.*would exceed the limit/,
      1,
    ],
    [
      (_, response) => response.writeHead(429, { 'retry-after': '3600' }).end(),
      /not retrying: the next try in 3600 s would exceed/,
      1,
    ],
    [(_, response) => response.writeHead(403).end(), /does not have permission to read this \(403\)/, 1],
  ]
  for (const [reply, said, tries] of never) {
    asked = 0
    const counted: Reply = (...call) => {
      asked++
      return reply(...call)
    }
    const { error, message } = await move(t, { [GROUPS]: counted }, ['groups'])
    t.ok(error instanceof SourceError)
    t.match(message, said)
    t.notMatch(message, 'the-key')
    t.equal(asked, tries, message)
  }
})

t.test('an answer that is too long is not read to its end, however it is packed', async (t) => {
  let written = 0
  const endless: Reply = async (_, response) => {
    response.on('close', () => response.destroy())
    for (let piece = 0; piece < 5000 && !response.destroyed; piece++) {
      written += 16_384
      if (!response.write(' '.repeat(16_384))) await drained(response)
    }
  }
  t.match((await move(t, { [GROUPS]: endless }, ['groups'])).message, /response exceeds 200000 bytes/)
  t.ok(written < 20_000_000, `${written} octets were sent`)
  const packed = gzipSync(Buffer.alloc(50_000_000, ' '))
  const bomb: Reply = (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed)
  t.match((await move(t, { [GROUPS]: bomb }, ['groups'])).message, /response exceeds 200000 bytes/)
})

t.test(
  'what is not the JSON of a v3 API ends the run with a sentence, and what is half right does no harm',
  async (t) => {
    const wrong: readonly (readonly [path: string, body: string, part: Part, said: RegExp])[] = [
      [GROUPS, '<html>Sign in</html>', 'groups', /not JSON; check that --url is the base/],
      [GROUPS, '{"groups":[]}', 'groups', /not the response of a v3 API \(not a list\)/],
      ['/v3/templates', '[]', 'templates', /not an object/],
      ['/v3/templates', '{"result":[],"_metadata":{"next":"http://x.example/"}}', 'templates', /without page_token/],
      [BOUNCES, '['.repeat(100_000), 'suppressions', /not JSON/],
    ]
    for (const [path, body, part, said] of wrong) {
      const reply: Reply = (_, response) => response.end(body)
      const { error, message } = await move(t, { [path]: reply }, [part])
      t.ok(error instanceof SourceError, `${path} ${body.slice(0, 60)}`)
      t.match(message, said)
    }
    const entries = [
      {},
      { email: 5 },
      { email: 'nobody' },
      { email: 'a@harbor.example', created: 'soon' },
      { email: 'b@x.example', created: -1 },
    ]
    const { error, tally } = await move(t, { [BOUNCES]: entries, '/v3/asm/suppressions': [{ email: 'c@x.example' }] }, [
      'suppressions',
    ])
    t.equal(error, undefined)
    t.match(tally.counts, { bounces: { added: 2, refused: 3 }, 'group suppressions': { added: 0, refused: 1 } })
    t.match(tally.refusals, [
      /bounces, entry 1/,
      /entry 2/,
      /entry 3: "nobody" is not a valid address/,
      /group id is missing/,
    ])
  },
)

t.test('an entry that is broken is told by its place, and the others are copied', async (t) => {
  const good = { id: 7, name: 'News', description: '', is_default: false }
  const groups = await move(t, { [GROUPS]: [null, { id: 'one', name: 'x' }, good, []] }, ['groups'])
  t.equal(groups.error, undefined)
  t.match(groups.tally.counts, { groups: { added: 1, refused: 3 } })
  t.match(groups.tally.refusals, [
    /^groups, entry 1: .*not an object/,
    /^groups, entry 2: .*numeric id/,
    /^groups, entry 4: /,
  ])

  const bounces = await move(t, { [BOUNCES]: [[], { email: 'e@harbor.example' }, null, 'x'] }, ['suppressions'])
  t.equal(bounces.error, undefined)
  t.match(bounces.tally.counts, { bounces: { added: 1, refused: 3 } })
  t.match(bounces.tally.refusals, [/^bounces, entry 1: .*not an object/, /^bounces, entry 3: /, /^bounces, entry 4: /])

  const [one, two] = [`d-${'7'.repeat(32)}`, `d-${'8'.repeat(32)}`]
  const version = (digit: number) => `${digit}a8b5c1e-3c1f-4b52-9d0a-0d3f6f1f2a11`
  const listed = [version(1), version(2), version(3), version(4)].map((id) => ({ id, active: 0 }))
  const told = { name: 'v', subject: 's', html_content: '<p>x</p>', editor: 'code' }
  const templates = await move(
    t,
    {
      '/v3/templates': {
        result: [
          ...[null, { id: 1, versions: {} }],
          { id: one, name: 'T', generation: 'dynamic', versions: [5, ...listed] },
          { id: two, name: 'U', generation: 'dynamic', versions: [] },
        ],
      },
      [`/v3/templates/${one}/versions/${version(1)}`]: told,
      [`/v3/templates/${one}/versions/${version(2)}`]: ['no object'],
      [`/v3/templates/${one}/versions/${version(3)}`]: (_: unknown, response: ServerResponse) =>
        response.writeHead(404).end('{}'),
      [`/v3/templates/${one}/versions/${version(4)}`]: (_: unknown, response: ServerResponse) => response.end('<html>'),
    },
    ['templates'],
  )
  t.equal(templates.error, undefined)
  t.match(templates.tally.counts, { templates: { added: 2, refused: 2 }, versions: { added: 1, refused: 4 } })
  const { refusals } = templates.tally
  t.match(refusals.slice(0, 3), [/^templates, entry 1: /, /^templates, entry 2: /, /^templates, entry 3, version 1: /])
  for (const id of [version(2), version(3), version(4)])
    t.ok(
      refusals.some((said) => said.includes(id)),
      id,
    )
})

t.test('pages without an end are given up', async (t) => {
  let [number, asked] = [0, 0]
  const page =
    (made: () => unknown): Reply =>
    (_, response) => {
      asked++
      response.end(JSON.stringify(Array.from({ length: 500 }, made)))
    }
  const fresh = page(() => ({ email: `a${number++}@x.example`, created: 1_600_000_000 + (number % 5000) }))
  const past = await move(t, { [BOUNCES]: fresh }, ['suppressions'])
  t.match(past.message, /entries outside start_time and end_time/)
  const same = await move(t, { [BOUNCES]: page(() => ({ email: 'a@x.example', created: 1 })) }, ['suppressions'])
  t.match(same.message, /same page twice; offset is ignored/)
  const ever = page(() => ({ email: `g${number++}@x.example`, group_id: 1, created_at: 1 }))
  const groups = await move(t, { '/v3/asm/suppressions': ever }, ['suppressions'])
  t.match(groups.message, /more than 20000 entries/)
  t.ok(asked < 100, `${asked} pages`)

  const next =
    (token: () => string): Reply =>
    (_, response) => {
      asked++
      const template = { id: `d-${'0'.repeat(32)}`, name: 'T', versions: [] }
      response.end(
        JSON.stringify({
          result: [template],
          _metadata: { next: `http://x.example/v3/templates?page_token=${token()}` },
        }),
      )
    }
  t.match((await move(t, { '/v3/templates': next(() => 'same') }, ['templates'])).message, /the same page twice/)
  asked = 0
  t.match(
    (await move(t, { '/v3/templates': next(() => `t${number++}`) }, ['templates'])).message,
    /more than 100 templates/,
  )
  t.equal(asked, 101)
})

t.test('the key goes to the base URL alone: redirects and next links lead nowhere else', async (t) => {
  const lured: string[] = []
  const lure = await startServer(t, (request, response) => {
    lured.push(String(request.url))
    response.end('[]')
  })
  const redirect: Reply = (_, response) => response.writeHead(302, { location: `${lure}/v3/asm/groups` }).end()
  t.match(
    (await move(t, { [GROUPS]: redirect }, ['groups'])).message,
    /unexpected redirect \(302\); not followed, to protect the key/,
  )
  const asked: string[] = []
  const pages: Reply = ({ headers }, response, query) => {
    asked.push(`${query.get('page_token')} ${headers.authorization}`)
    const _metadata = asked.length === 1 ? { next: `${lure}/v3/templates?page_token=two` } : {}
    response.end(JSON.stringify({ result: [], _metadata }))
  }
  t.equal((await move(t, { '/v3/templates': pages }, ['templates'])).error, undefined)
  t.strictSame(asked, ['null Bearer the-key', 'two Bearer the-key'])
  t.strictSame(lured, [])
})

t.test('a long list is read by spans of time, each entry once, and never far by offset', async (t) => {
  const all = Array.from({ length: 4321 }, (_, at) => ({
    email: `person-${at}@harbor.example`,
    created: 1_500_000_000 + ((at * 7919) % 1000) * 3600,
    reason: 'x'.repeat(20),
  }))
  const offsets: number[] = []
  const list: Reply = (_, response, query) => {
    const [offset, limit] = [Number(query.get('offset')), Number(query.get('limit'))]
    const [from, to] = [Number(query.get('start_time') ?? 0), Number(query.get('end_time') ?? Number.POSITIVE_INFINITY)]
    offsets.push(offset)
    const found = all.filter(({ created }) => created >= from && created <= to)
    // Its pages are shorter than asked for.
    response.end(JSON.stringify(found.slice(offset, offset + Math.min(limit, 300))))
  }
  const { accountId, error, tally } = await move(t, { [BOUNCES]: list }, ['suppressions'])
  t.equal(error, undefined)
  t.match(tally.counts.bounces, { added: 4321, there: 0 })
  t.ok(Math.max(...offsets) <= 900, `offset ${Math.max(...offsets)}`)
  t.ok(offsets.length < 200, `${offsets.length} requests`)
  const [stored] = await service.sql<[{ count: number; times: number }]>`
    select count(*)::int as count, count(distinct since)::int as times from suppressions
     where account_id = ${accountId} and reason = 'hardbounce'`
  t.strictSame({ ...stored }, { count: 4321, times: 1000 })
})

t.test('a source that knows no pages has given the whole list with the first', async (t) => {
  const all: Reply = (_, response) =>
    response.end(JSON.stringify(['a', 'b'].map((name) => ({ email: `${name}@x.example`, group_id: 3, created_at: 9 }))))
  const { tally, error } = await move(t, { '/v3/asm/suppressions': all }, ['suppressions'])
  t.equal(error, undefined)
  t.equal(tally.counts['group suppressions'].added, 2)
})

t.test('a list that is cut off at the last offset this service knows is told, not passed over', async (t) => {
  let left = 100_000
  const once: Reply = (_, response) => {
    const page = Array.from({ length: Math.min(500, left) }, () => ({
      email: `g${left--}@x.example`,
      group_id: 3,
      created_at: 9,
    }))
    response.end(JSON.stringify(page))
  }
  const { tally, error } = await move(t, { '/v3/asm/suppressions': once }, ['suppressions'], { entries: 200_000 })
  t.equal(error, undefined)
  t.match(tally.cut, [/100000 entries were read; there may be more/])
  t.equal(tally.counts['group suppressions'].added, 100_000)
})

/** An octet now and then, for as long as somebody listens. */
async function drip(response: ServerResponse): Promise<void> {
  response.writeHead(200)
  const timer = setInterval(() => response.write(' '), 50)
  response.on('close', () => clearInterval(timer))
}
