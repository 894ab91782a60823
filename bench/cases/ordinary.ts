import { type HttpCall, httpClients, v2Call, v3Call } from '../harness/calls.ts'
import { accept, type Comparison, endToEnd } from '../harness/compare.ts'
import type { Case, Context } from '../harness/context.ts'
import { expectCount } from '../harness/expect-count.ts'
import { WARM_UP } from '../harness/load.ts'
import { prose } from '../harness/messages.ts'
import { until } from '../harness/processes.ts'
import { RECEIPT, receiptData } from '../harness/receipt.ts'
import { addWebhook, startReceiver, WEBHOOK_SETTINGS } from '../harness/receiver.ts'
import type { Finding } from '../harness/rounds.ts'
import type { Sender } from '../harness/service.ts'
import { type SmtpSink, startSmtpSink } from '../harness/sink.ts'

const OCTETS = 10_000
const ACCOUNTS = 2000
/** Accounts made at a time. */
const AT_ONCE = 4
/** Far from what a run uses, so that nothing is refused. */
const LIMITS = { credits: 100_000_000, perWindow: 100_000_000 } as const

/** What an ordinary user's mail has and the other cases' mail has not, each against the same mail without it; all through the HTTP API. */
export const ordinary: Case = {
  name: 'ordinary',
  long: true,
  run: (context) =>
    withSink(context, async (sink, plain, makeSender) => {
      const { service } = context
      const findings = [await accept(context, await limits(context, plain, await makeSender()))]
      for (const comparison of doors(plain)) findings.push(await accept(context, comparison))
      await startWorker(context, sink, plain)
      findings.push(await endToEnd(context, sink, await tracking(context, plain, await makeSender())))
      findings.push(await endToEnd(context, sink, await template(context, plain)))
      const [receiver, reported] = [await startReceiver(), await makeSender()]
      try {
        const remove = await addWebhook(service.apiUrl, reported.apiKey, receiver.url)
        findings.push(await endToEnd(context, sink, webhook(plain, reported, receiver.count)))
        await remove()
      } finally {
        await receiver.stop()
      }
      return findings
    }),
}

/** The mail of many accounts at once, each with a domain of its own, against as much mail of one. */
export const manyAccounts: Case = {
  name: 'many-accounts',
  long: true,
  run: (context) =>
    withSink(context, async (sink, plain, makeSender) => {
      const { service, report } = context
      report(`making ${ACCOUNTS.toLocaleString('en')} accounts`)
      const senders: Sender[] = []
      while (senders.length < ACCOUNTS)
        senders.push(...(await Promise.all(Array.from({ length: AT_ONCE }, makeSender))))
      // A worker would look up their records.
      await service.sql`update domains set check_at = now() + interval '90 days'`
      await startWorker(context, sink, plain)
      const comparison = accounts(plain, senders)
      // Each has sent before: otherwise every message of a round would be the first of its account.
      await httpClients(service.apiUrl, comparison.mails.many?.calls ?? [], { messages: ACCOUNTS })
      await service.drained(ACCOUNTS)
      return [await endToEnd(context, sink, comparison)]
    }),
}

async function withSink(
  { service }: Context,
  run: (sink: SmtpSink, plain: Sender, makeSender: () => Promise<Sender>) => Promise<Finding[]>,
): Promise<Finding[]> {
  const sink = await startSmtpSink()
  let made = 0
  const makeSender = (): Promise<Sender> => service.makeSender(`ordinary${Date.now()}-${made++}`)
  try {
    await service.start('api', { settings: WEBHOOK_SETTINGS })
    const plain = await makeSender()
    await httpClients(service.apiUrl, [v2Call(plain, prose(OCTETS, 7))], { messages: WARM_UP })
    await service.empty()
    return await run(sink, plain, makeSender)
  } finally {
    await service.reset()
    await sink.stop()
  }
}

async function startWorker({ service }: Context, sink: SmtpSink, plain: Sender): Promise<void> {
  await service.start('delivery', { sinkPort: sink.port, settings: WEBHOOK_SETTINGS })
  await httpClients(service.apiUrl, [v2Call(plain, prose(OCTETS, 7))], { messages: WARM_UP })
  await service.drained(WARM_UP)
}

async function tracking({ service }: Context, plain: Sender, tracked: Sender): Promise<Comparison> {
  await service.sql`update accounts set open_tracking = true, click_tracking = true where id = ${tracked.accountId}`
  const links = Array.from({ length: 10 }, (_none, at) => {
    return `<p><a href="https://harbor.example/berths/${at}?from=mail">Berth ${at}</a></p>\r\n`
  })
  const html = links.map((link, at) => prose(OCTETS / 10, at) + link).join('')
  const check = async (messages: number): Promise<void> => {
    const rows =
      await service.sql`select 1 from messages where settings @> '{"openTracking": true, "clickTracking": true}'`
    expectCount('messages tracked', rows.length, messages)
  }
  return {
    title: 'end to end, HTML with ten tracked links and a pixel, against untracked',
    key: 'ordinary_tracked',
    atLeast: 0.8,
    mails: { tracked: { calls: [v2Call(tracked, html)], check }, untracked: { calls: [v2Call(plain, html)] } },
  }
}

async function template({ service }: Context, plain: Sender): Promise<Comparison> {
  const { accountId } = plain
  const version = { ...RECEIPT, plain: '', generatePlain: false }
  const data = receiptData('Lena')
  const { editableTemplates } = service.core
  const { id } = await editableTemplates.create({ accountId, name: 'receipt', generation: 'dynamic' })
  await editableTemplates.addVersion({ accountId, id }, { ...version, name: 'first' })
  const literal = await editableTemplates.preview(accountId, 'dynamic', { ...version, testData: JSON.stringify(data) })
  return {
    title: 'end to end, dynamic template with a loop of ten rows, against its content sent literally',
    key: 'ordinary_template',
    atLeast: 0.6,
    mails: {
      template: { calls: [v3Call(plain, { templateId: id, data })] },
      literal: { calls: [v3Call(plain, literal)] },
    },
  }
}

function webhook(plain: Sender, reported: Sender, count: () => number): Comparison {
  let before = count()
  const check = async (messages: number): Promise<void> => {
    await until('the receiver to have all events', () => count() - before >= messages)
    expectCount('events received', count() - before, messages)
    before = count()
  }
  const html = prose(OCTETS, 7)
  return {
    title: 'end to end, a webhook that is answered at once, against none',
    key: 'ordinary_webhook',
    atLeast: 0.85,
    mails: {
      webhook: { calls: [v2Call(reported, html)], check },
      none: { calls: [v2Call(plain, html)] },
    },
  }
}

async function limits({ service }: Context, plain: Sender, limited: Sender): Promise<Comparison> {
  const { accountId, domain } = limited
  const { auth, credits } = service.core
  await credits.limit(accountId, LIMITS.credits)
  const { secret: apiKey } = await auth.createKey({
    accountId,
    scopes: ['send'],
    networks: ['127.0.0.0/8'],
    restrictions: {
      senderDomains: [domain],
      recipientDomains: ['harbor.example'],
      recipientsPerHour: LIMITS.perWindow,
      callsPerMinute: LIMITS.perWindow,
    },
  })
  let left: number = LIMITS.credits
  const check = async (messages: number): Promise<void> => {
    const { available } = await credits.show(accountId)
    expectCount('credits used', left - (available ?? 0), messages)
    left -= messages
  }
  const html = prose(2000, 7)
  return {
    title: 'HTTP durable accept, 2 kB, limited credits and a restricted key, against unlimited and unrestricted',
    key: 'ordinary_limits',
    atLeast: 0.95,
    mails: {
      limited: { calls: [v2Call({ apiKey, domain }, html)], check },
      unlimited: { calls: [v2Call(plain, html)] },
    },
  }
}

function accounts(plain: Sender, senders: readonly Sender[]): Comparison {
  const html = prose(OCTETS, 7)
  return {
    title: `end to end, mail of ${ACCOUNTS.toLocaleString('en')} accounts at once, against one`,
    key: 'ordinary_accounts',
    atLeast: 0.9,
    mails: {
      many: { calls: senders.map((sender) => v2Call(sender, html)) },
      one: { calls: [v2Call(plain, html)] },
    },
  }
}

interface V2Body {
  readonly from: { readonly fromEmail: string; readonly fromName: string }
  readonly subject: string
  readonly content: string
  readonly personalizations: readonly [{ readonly recipient: string }]
}

/** The same mail by v3 and as a form with bracketed names, against JSON by v2. */
function doors(plain: Sender): Comparison[] {
  const html = prose(2000, 7)
  const json = v2Call(plain, html)
  const { from, subject, content, personalizations } = JSON.parse(json.body) as V2Body
  const fields = {
    'from[fromEmail]': from.fromEmail,
    'from[fromName]': from.fromName,
    subject,
    content,
    'personalizations[0][recipient]': personalizations[0].recipient,
  }
  const form: HttpCall = {
    ...json,
    headers: { ...json.headers, 'content-type': 'application/x-www-form-urlencoded' },
    // The number of the call is put in afterwards.
    body: new URLSearchParams(fields).toString().replaceAll('%25NUMBER%25', '%NUMBER%'),
  }
  const of = (name: string, call: HttpCall): Comparison => ({
    title: `HTTP durable accept, 2 kB, ${name}, against JSON by v2`,
    key: `door_${name.split(' ')[0]}`,
    mails: { [name]: { calls: [call] }, 'v2 JSON': { calls: [json] } },
  })
  return [of('v3 mail/send', v3Call(plain, { subject, html: content })), of('form', form)]
}
