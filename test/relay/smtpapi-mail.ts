import { createRequire } from 'node:module'
import type { MessageDetails } from '@postrider/core'
import { createTransport, type SendMailOptions } from 'nodemailer'
import type { Test } from 'tap'
import { makeService, type Sender, type TestService } from '../helpers/service.ts'
import { type Sink, type SinkMessage, startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { openWorker } from '../helpers/worker.ts'
import { shown } from './session.ts'

interface Mailboxes {
  readonly value: readonly { readonly address?: string; readonly name: string }[]
  readonly text: string
}

/** What the tests read of a parsed message. */
export interface ReadMail {
  readonly headers: ReadonlyMap<string, unknown>
  readonly subject: string
  readonly text?: string
  readonly html: string | false
  readonly date?: Date
  readonly messageId?: string
  readonly from: Mailboxes
  readonly to?: Mailboxes
  readonly replyTo?: Mailboxes
  readonly attachments: readonly {
    readonly filename?: string
    readonly content: Buffer
    readonly contentType: string
    readonly contentDisposition?: string
    readonly cid?: string
  }[]
}
const { simpleParser } = createRequire(import.meta.url)('mailparser') as {
  simpleParser(message: Buffer, options?: object): Promise<ReadMail>
}

export interface SmtpApiMail {
  readonly service: TestService
  readonly sender: Sender
  readonly sink: Sink
  /** Sends by nodemailer, with this in X-SMTPAPI: JSON of an object, text as it is. Answers what became of the message so far. */
  send(api: object | string, mail?: SendMailOptions, from?: Sender): Promise<MessageDetails>
  /** The copy that arrives for this recipient. */
  arrived(recipient: string): Promise<SinkMessage>
  read(recipient: string): Promise<ReadMail>
  /** An address nobody else has. */
  someone(): string
}

/** The relay, with a delivery worker that sends everything to a sink. */
export async function makeSmtpApiMail(t: Test, settings: Record<string, string> = {}): Promise<SmtpApiMail> {
  const sink = await startSink(t)
  const service = await makeService(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}`, ...settings })
  await service.openRelay()
  await openWorker(t, service)
  const own = await service.makeSender()
  let numbers = 0
  const arrived = (recipient: string) =>
    until('the copy', () => sink.messages.find(({ to }) => to.includes(recipient)) ?? false) as Promise<SinkMessage>
  return {
    service,
    sender: own,
    sink,
    arrived,
    async send(api, mail = {}, { apiKey, domain } = own) {
      const client = createTransport({
        host: '127.0.0.1',
        port: service.config.relayPort,
        auth: { user: 'apikey', pass: apiKey },
        authMethod: 'LOGIN',
        tls: { rejectUnauthorized: false },
      })
      const headers = { 'X-SMTPAPI': typeof api === 'string' ? api : JSON.stringify(api) }
      const least = { from: `desk@${domain}`, to: 'list@harbor.example', subject: 'Berth 4', text: 'Ready.' }
      try {
        const { response } = await client.sendMail({ ...least, ...mail, headers: { ...headers, ...mail.headers } })
        return await shown(service, response)
      } finally {
        client.close()
      }
    },
    read: async (recipient) =>
      simpleParser((await arrived(recipient)).data, { skipImageLinks: true, skipTextToHtml: true }),
    someone: () => `r${++numbers}@harbor.example`,
  }
}

/** Everything of a delivered message below the fields that the service puts on top, without its To. */
export function withoutTo({ data }: SinkMessage): string {
  const text = data.toString('latin1')
  return text.slice(text.search(/^(from|to|x-first):/im)).replace(/^to:.*\r\n(?:[ \t].*\r\n)*/im, '')
}
