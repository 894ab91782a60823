import { readFileSync } from 'node:fs'
import t from 'tap'
import { addWebhook, LOOPBACK } from '../delivery/webhook-worker.ts'
import { startProcess } from '../helpers/processes.ts'
import { onBatches, startReceiver } from '../helpers/receiver.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { makeService } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { SmtpClient } from '../helpers/smtp-client.ts'
import { until } from '../helpers/until.ts'

/** A part of each value that must not be in a log: names of recipients, subjects, texts, keys, passwords, tokens. */
const MARK = 'zq7kvx'
/** The order of hostile values, so that each is met in several destinations. */
const PLACES = 6

const corpus = new URL('../../../shared/corpora/naughty-strings.json', import.meta.url)

function naughty(): string[] {
  try {
    return JSON.parse(readFileSync(corpus, 'utf8')) as string[]
  } catch {
    // The corpora are not in every clone.
    return ['', 'null', '\u0000', '"><script>', '%s%n', '\u202e', '\ud83d\ude00', "' or 1=1 --", '\r\nBcc: x']
  }
}

t.test('no log has a secret, an address of a person or content, whatever is sent to any process', async (t) => {
  const sink = await startSink(t, {
    rcpt: ({ command }) => (/gone/.test(command) ? `550 5.1.1 ${MARK} ${command}` : undefined),
    dot: ({ message: { to } }) => (/later/.test(String(to)) ? `451 4.3.0 ${MARK} ${to}` : undefined),
  })
  const service = await makeService(t, {
    ...LOOPBACK,
    DELIVERY: `smtp://127.0.0.1:${sink.port}`,
    SECRET_KEY: `${MARK} is the key of this installation`,
    LOG_LEVEL: 'trace',
    LOG_MESSAGES: '1',
  })
  const sender = await service.makeSender({ tracking: true })
  const receiver = await startReceiver(
    t,
    onBatches((_request, response) => response.writeHead(500).end(MARK)),
  )
  await addWebhook(service, sender, `${receiver.url}?token=${MARK}`, { headers: { authorization: MARK } })
  const processes = await Promise.all(
    (['api', 'relay', 'delivery', 'returns'] as const).map((name) => startProcess(t, name, service.env)),
  )
  const { apiPort, relayPort, returnsPort } = service.config
  const base = `http://127.0.0.1:${apiPort}`
  const values = naughty().map((value) => `${MARK}${value}${MARK}`)
  const whole = v2Body(sender, {
    personalizations: ['lena', 'gone', 'later'].map((name) => ({ recipient: `${MARK}${name}@harbor.example` })),
    subject: `subject ${MARK}`,
    content: `<p>${MARK} <a href="https://harbor.example/${MARK}">berth</a></p>`,
  })
  t.equal((await sendV2(base, sender.apiKey, whole)).status, 200)

  const request = (path: string, init: RequestInit) => fetch(base + path, init).then((answer) => answer.text())
  const post = (path: string, headers: Record<string, string>, body: string) =>
    request(path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })
  const calls = values.map((value, at) => {
    const keyed = { api_key: sender.apiKey }
    const printable = encodeURIComponent(value)
    const place = at % PLACES
    if (place === 0) return () => sendV2(base, sender.apiKey, { ...whole, subject: value, [value]: value })
    if (place === 1)
      return () =>
        sendV2(base, sender.apiKey, { ...whole, personalizations: [{ recipient: `${value}@harbor.example` }] })
    if (place === 2) return () => post('/v2/sendEmail', keyed, `{"subject": ${value}`)
    if (place === 3) return () => request(`/v2/logs?events=${printable}&${printable}=1`, { headers: keyed })
    if (place === 4)
      return () =>
        post(
          '/v3/mail/send',
          { authorization: `Bearer ${sender.apiKey}` },
          JSON.stringify({ [value]: value, from: value }),
        )
    return () => request(`/t/${printable}?${printable}`, { headers: { api_key: printable, cookie: printable } })
  })
  for (let at = 0; at < calls.length; at += 10) await Promise.all(calls.slice(at, at + 10).map((call) => call()))
  await post('/v2/sendEmail', { api_key: MARK }, '{}')
  await post(
    '/app/log-in',
    { 'content-type': 'application/x-www-form-urlencoded' },
    `email=${MARK}@x.example&password=${MARK}`,
  )
  await request(`/operator/v1/accounts/${MARK}`, { headers: { authorization: `Bearer ${MARK}` } })

  const secret = (text: string) => Buffer.from(text).toString('base64')
  for (const [port, login] of [
    [relayPort, secret(`\0${MARK}\0${MARK}`)],
    [relayPort, secret(`\0apikey\0${sender.apiKey}`)],
    [returnsPort, undefined],
  ] as const) {
    const client = await SmtpClient.connect(t, { port })
    await client.reply()
    await client.command(`EHLO ${MARK}.example`)
    if (login) await client.command(`AUTH PLAIN ${login}`)
    await client.command(`MAIL FROM:<${MARK}@${sender.domain}>`)
    await client.command(`RCPT TO:<${MARK}@harbor.example>`)
    await client.command(`RCPT TO:<${MARK}@@harbor..example>`)
    await client.command(`${MARK} ${MARK}`)
    client.destroy()
  }
  await until('attempts have failed and been logged', () =>
    processes.some(({ log }) => log.filter(({ msg }) => msg === 'deferred' || msg === 'bounced').length >= 2),
  )
  await until('the webhook was told', () => receiver.batches().length > 0)
  await Promise.all(processes.map((process) => process.stop()))

  const key = sender.apiKey.slice(3)
  for (const { name, log } of processes) {
    t.ok(log.length > 0, name)
    for (const entry of log) {
      const line = JSON.stringify(entry)
      if (line.includes(MARK) || line.includes(key)) t.fail(`${name}: ${line}`)
    }
  }
  const refusals = processes.flatMap(({ log }) => log.filter(({ msg }) => msg === 'request rejected'))
  t.ok(refusals.length > values.length / 4, `${refusals.length} refusals were logged`)
})
