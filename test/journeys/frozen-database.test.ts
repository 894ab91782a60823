import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@postrider/cli/embedded-postgres'
import nodemailer from 'nodemailer'
import t from 'tap'
import { makeTemplateDatabase } from '../helpers/database.ts'
import { freezePostgres } from '../helpers/frozen-postgres.ts'
import { isInTime } from '../helpers/pace.ts'
import { v2Body } from '../helpers/send.ts'
import { makeService } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'

/** Milliseconds in which a call is refused: an accept waits for eight seconds, and a loaded machine is slow. */
const REFUSED_WITHIN = 12_000

t.test('while the database is frozen every door refuses in time, and afterwards nothing is there twice', async (t) => {
  const dataDir = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'frozen-'))
  const server = await startEmbeddedPostgres({ dataDir })
  t.teardown(() => server.stop())
  await makeTemplateDatabase(server.url)
  const service = await makeService(t, {}, server.url)
  const [sender, stranger] = [await service.makeSender(), await service.makeSender()]
  const base = await service.openApi()
  await service.openRelay()
  const post = (path: string, headers: Record<string, string>, body: unknown) =>
    fetch(base + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }).then(({ status }) => status)
  const send = (key: string, by = sender) =>
    post('/v2/sendEmail', { api_key: by.apiKey, 'idempotency-key': key }, v2Body(by))
  const relayed = (by = sender) =>
    nodemailer
      .createTransport({
        host: '127.0.0.1',
        port: service.config.relayPort,
        tls: { rejectUnauthorized: false },
        auth: { user: 'apikey', pass: by.apiKey },
      })
      .sendMail({ from: `desk@${by.domain}`, to: 'lena@harbor.example', text: 'x' })
      .then(
        () => 250,
        ({ responseCode }) => responseCode as number,
      )
  t.equal(await send('before'), 200)
  t.equal(await relayed(), 250)

  const thaw = freezePostgres(t, dataDir)
  const frozenAt = performance.now()
  const turned = until('not ready', () => !service.core.readiness.current().ready).then(() => isInTime(frozenAt, 6000))
  const calls = [
    // With a key that is known; with one that would have to be looked up.
    send('a'),
    send('b'),
    send('c', stranger),
    post('/v3/mail/send', { authorization: `Bearer ${stranger.apiKey}` }, {}),
    fetch(`${base}/v2/logs?startdate=2026-01-01&enddate=2026-01-02`, { headers: { api_key: sender.apiKey } }).then(
      ({ status }) => status,
    ),
    fetch(`${base}/v2/domains`, { headers: { api_key: stranger.apiKey } }).then(({ status }) => status),
    relayed(),
    relayed(stranger),
  ]
  // A key that can't be looked up is a temporary failure of authentication (RFC 4954 6).
  const refusals = [503, 503, 503, 503, 503, 503, 451, 454]
  const codes: (number | undefined)[] = calls.map(() => undefined)
  const all = Promise.all(calls.map(async (call, at) => (codes[at] = await call)))
  const answered = () => codes.filter((code) => code !== undefined).length
  await until(
    'all but the one whose commit has begun to be refused',
    () => answered() === calls.length - 1,
    REFUSED_WITHIN,
  )
  t.strictSame(
    codes.map((code, at) => code ?? refusals[at]),
    refusals,
  )
  t.ok(await turned, 'not ready in time')
  t.equal(await send('d'), 503, 'at once, now that it is known')
  thaw()
  const held = codes.indexOf(undefined)
  await all
  t.ok([200, 250, refusals[held]].includes(codes[held]), `it is answered with its outcome: ${codes[held]}`)
  await until('ready again', () => service.core.readiness.current().ready, 30_000)
  for (const [key, by] of [['a'], ['b'], ['c', stranger], ['d']] as const) t.equal(await send(key, by), 200, key)
  const [{ count } = { count: 0 }] = await service.sql<{ count: number }[]>`
    select count(*)::int as count from messages where door = 'v2'`
  t.equal(count, 5, 'each one once, whether it was on its way or not')
})
