import { createRequire } from 'node:module'
import type { MessageDetails } from '@postrider/core'
import type { Test } from 'tap'
import { sendV2, type V2Answer, v2Body } from '../helpers/send.ts'
import { makeService, type Sender, type TestService } from '../helpers/service.ts'
import { type Sink, startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { openWorker } from '../helpers/worker.ts'

interface AddressList {
  readonly value: readonly { readonly address?: string; readonly name: string }[]
  readonly text: string
}

interface ParsedFile {
  readonly filename?: string
  readonly content: Buffer
  readonly contentType: string
  readonly contentDisposition: string
  /** Without brackets. */
  readonly cid?: string
  /** It belongs to the HTML. */
  readonly related: boolean
}

/** What the tests read of a parsed message; mailparser brings no types of its own. */
export interface ParsedMail {
  readonly headers: ReadonlyMap<string, unknown>
  readonly from?: AddressList
  readonly to?: AddressList
  readonly cc?: AddressList
  readonly replyTo?: AddressList
  readonly subject?: string
  readonly messageId?: string
  readonly text?: string
  readonly html: string | false
  readonly attachments: readonly ParsedFile[]
}

const { simpleParser } = createRequire(import.meta.url)('mailparser') as {
  simpleParser(source: Buffer): Promise<ParsedMail>
}

/** One copy of a message as the remote server got it. */
export interface Copy {
  readonly recipient: string
  readonly raw: string
  readonly mail: ParsedMail
}

/** The service behind its API, with a delivery worker that sends everything to a sink. */
export interface Arrivals {
  readonly service: TestService
  readonly base: string
  readonly sender: Sender
  readonly sink: Sink
  /** Sends {@link v2Body} with `extra` on top. */
  send(extra?: Record<string, unknown>): Promise<V2Answer>
  /** Waits until this many copies of the message have arrived; answers them by recipient, in order. */
  copies(answer: V2Answer, count?: number): Promise<Copy[]>
  /** What became of the message so far. */
  story(answer: V2Answer): Promise<MessageDetails>
  /** Sends and waits for the first copy. */
  deliver(extra?: Record<string, unknown>): Promise<Copy>
}

export async function makeArrivals(t: Test, settings: Record<string, string> = {}): Promise<Arrivals> {
  const sink = await startSink(t)
  const service = await makeService(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}`, ...settings })
  const base = await service.openApi()
  const sender = await service.makeSender()
  await openWorker(t, service)

  const send = (extra: Record<string, unknown> = {}) => sendV2(base, sender.apiKey, v2Body(sender, extra))
  const copies = async ({ body }: V2Answer, count = 1): Promise<Copy[]> => {
    const id = body.data?.message_id
    if (!id) throw new Error(`not accepted: ${JSON.stringify(body)}`)
    const found = await until(`${count} copies`, () => {
      const own = sink.messages.filter(({ data }) => data.includes(`\r\nMessage-ID: <${id}.`))
      return own.reduce((sum, { to }) => sum + to.length, 0) >= count && own
    })
    const parsed = await Promise.all(
      found.map(async ({ to, data }) => ({ to, raw: data.toString(), mail: await parse(data) })),
    )
    return parsed
      .flatMap(({ to, raw, mail }) => to.map((recipient) => ({ recipient, raw, mail })))
      .sort((a, b) => (a.recipient < b.recipient ? -1 : 1))
  }
  const story = async ({ body }: V2Answer): Promise<MessageDetails> => {
    const found = await service.core.messages.show(body.data?.message_id ?? '')
    if (!found) throw new Error(`not accepted: ${JSON.stringify(body)}`)
    return found
  }
  const deliver = async (extra?: Record<string, unknown>) => (await copies(await send(extra)))[0] as Copy
  return { service, base, sender, sink, send, copies, story, deliver }
}

/** The line end behind a body part belongs to the delimiter that follows, or to the message's end: not to its text. */
async function parse(data: Buffer): Promise<ParsedMail> {
  const mail = await simpleParser(data)
  return { ...mail, html: mail.html ? mail.html.replace(/\n$/, '') : mail.html }
}

/** The header fields above the body, unfolded, in order: "name: value". */
export function headerLines(raw: string): string[] {
  const head = raw.slice(0, raw.indexOf('\r\n\r\n'))
  return head.replace(/\r\n[ \t]/g, ' ').split('\r\n')
}

/** The names of the header fields, in lower case. */
export function headerNames(raw: string): string[] {
  return headerLines(raw).map((line) => line.slice(0, line.indexOf(':')).toLowerCase())
}

/** Undoes RFC 2047, which mailparser does for the fields it knows only. */
export function decodeWords(value: string): string {
  return value
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?B\?(.*?)\?=/gi, (_word, text: string) => Buffer.from(text, 'base64').toString())
}
