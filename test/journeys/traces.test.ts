import nodemailer from 'nodemailer'
import t from 'tap'
import { addWebhook, LOOPBACK } from '../delivery/webhook-worker.ts'
import { startProcess } from '../helpers/processes.ts'
import { type Receiver, startReceiver } from '../helpers/receiver.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { makeService } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'

/** Spans as OTLP has them in JSON. */
interface Sent {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[]
  readonly events: readonly { readonly name: string }[]
  readonly status: { readonly code: number; readonly message?: string }
}

const CALLER = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
const SAMPLED = `00-${CALLER.traceId}-${CALLER.spanId}-01`

function spansOf({ requests }: Receiver): Sent[] {
  return requests
    .filter(({ path }) => path === '/v1/traces')
    .flatMap(({ body }) => JSON.parse(body).resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans)
}

const attribute = (span: Sent | undefined, key: string) =>
  Object.values(span?.attributes.find((one) => one.key === key)?.value ?? {})[0]

t.test("a caller's trace shows a message from the call to the attempts and the webhook", async (t) => {
  const collector = await startReceiver(t)
  const sink = await startSink(t, { rcpt: ({ command }) => (command.includes('gone@') ? '550 5.1.1 gone' : undefined) })
  const service = await makeService(t, {
    ...LOOPBACK,
    DELIVERY: `smtp://127.0.0.1:${sink.port}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}`,
    OTEL_TRACES_SAMPLER_ARG: '0',
  })
  const sender = await service.makeSender()
  const receiver = await startReceiver(t)
  await addWebhook(service, sender, receiver.url, { eventIds: false })
  await Promise.all((['api', 'delivery', 'relay'] as const).map((name) => startProcess(t, name, service.env)))
  const base = `http://127.0.0.1:${service.config.apiPort}`
  const send = (traceparent: string, body: Record<string, unknown>) =>
    sendV2(base, sender.apiKey, v2Body(sender, body), { traceparent })

  const { status } = await send(SAMPLED, {})
  t.equal(status, 200)
  const named = () => new Map(spansOf(collector).map((span) => [span.name, span]))
  // Each process exports its own, every two seconds.
  await until('both processes to have exported theirs', () => named().has('webhook') && named().has('accept'))
  const spans = named()
  t.same([...spans.keys()].sort(), ['accept', 'attempt', 'commit', 'queue', 'webhook'])
  const accept = spans.get('accept')
  t.equal(accept?.parentSpanId, CALLER.spanId)
  for (const [name, span] of spans) {
    t.equal(span.traceId, CALLER.traceId)
    if (name !== 'accept') t.equal(span.parentSpanId, accept?.spanId, `${name} is a part of the acceptance`)
    t.ok(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano), name)
  }
  const attempt = spans.get('attempt')
  t.equal(attribute(attempt, 'postrider.outcome'), 'delivered')
  t.equal(attribute(attempt, 'postrider.message_id'), attribute(accept, 'postrider.message_id'))
  t.match(
    attempt?.events.map(({ name }) => name),
    ['connect', 'greeting', 'ehlo'],
  )

  t.comment('What fails has a reason; what the caller does not sample, or is no traceparent, is not traced.')
  const others = ['4bf92f3577b34da6a3ce929d0e0e4731', '4bf92f3577b34da6a3ce929d0e0e4732', CALLER.traceId]
  await send(`00-${others[0]}-${CALLER.spanId}-00`, {})
  await send(`00-${others[1]}-${CALLER.spanId}-0x`, {})
  await send(SAMPLED, { from: { fromEmail: 'desk@elsewhere.example' } })
  const large = {
    content: `<p>${'berth '.repeat(60_000)}</p>`,
    personalizations: [{ recipient: 'gone@harbor.example' }],
  }
  await send(SAMPLED, large)
  await until('the bounce was exported', () =>
    spansOf(collector).some((span) => attribute(span, 'postrider.outcome') === 'bounced'),
  )
  await until('the refusal was exported', () => spansOf(collector).filter(({ name }) => name === 'accept').length === 3)
  const later = spansOf(collector)
  t.ok(later.every(({ traceId }) => traceId === CALLER.traceId))
  const failed = later.filter(({ status: { code } }) => code === 2).map(({ status: { message } }) => message)
  t.same(failed.sort(), ['bounced at rcpt', 'senderInvalid'].sort())

  t.comment('Mail by SMTP names its trace in a header field.')
  const bySmtp = '4bf92f3577b34da6a3ce929d0e0e4733'
  const transport = nodemailer.createTransport({
    host: '127.0.0.1',
    port: service.config.relayPort,
    auth: { user: 'apikey', pass: sender.apiKey },
    tls: { rejectUnauthorized: false },
  })
  const headers = { 'X-PR-Traceparent': `00-${bySmtp}-${CALLER.spanId}-01` }
  const mailed = { from: `desk@${sender.domain}`, to: 'sam@harbor.example', subject: 'Pier 6', text: 'Ready.', headers }
  await transport.sendMail(mailed)
  const smtpSpans = () => spansOf(collector).filter(({ traceId }) => traceId === bySmtp)
  await until('its attempt was exported', () => smtpSpans().some(({ name }) => name === 'attempt'))
  const accepted = await until('its acceptance, by another process', () =>
    smtpSpans().find(({ name }) => name === 'accept'),
  )
  t.equal(accepted.parentSpanId, CALLER.spanId)
  t.equal(attribute(accepted, 'postrider.door'), 'smtp')

  const written = JSON.stringify(collector.requests)
  for (const kept of [sender.apiKey, sender.domain, 'harbor.example', 'elsewhere.example', 'berth'])
    t.notOk(written.includes(kept), `nothing exported contains ${kept}`)
  const mail = sink.messages.map(({ data }) => String(data)).join('')
  t.ok(mail.includes('berth'))
  for (const id of [CALLER.traceId, bySmtp]) t.notOk(mail.includes(id), 'the recipient does not get the trace')
})

t.test('a receiver of traces that does not answer delays neither mail nor the end of a process', async (t) => {
  const collector = await startReceiver(t, () => {})
  const sink = await startSink(t)
  const service = await makeService(t, {
    DELIVERY: `smtp://127.0.0.1:${sink.port}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}`,
    OTEL_TRACES_SAMPLER: 'always_on',
  })
  const sender = await service.makeSender()
  const [api, delivery] = await Promise.all(
    (['api', 'delivery'] as const).map((name) => startProcess(t, name, service.env)),
  )
  const base = `http://127.0.0.1:${service.config.apiPort}`
  for (let no = 0; no < 5; no++) t.equal((await sendV2(base, sender.apiKey, v2Body(sender))).status, 200)
  await until('all are there', () => sink.messages.length === 5)
  await until('spans were posted', () => collector.requests.length > 0)
  t.same(await Promise.all([api?.stop(), delivery?.stop()]), [0, 0])
})
