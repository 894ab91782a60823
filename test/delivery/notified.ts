import type { Test } from 'tap'
import type { Sink, SinkMessage } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { openSession, queueId } from '../relay/session.ts'
import type { Outbox } from './outbox.ts'

export interface Envelope {
  readonly from?: string
  /** What follows the address in MAIL. */
  readonly mail?: string
  /** What follows RCPT TO:. */
  readonly recipients: readonly string[]
  readonly message?: string | Buffer
}

/** What is submitted to the relay of an outbox, and the notifications about it that arrive at a sink. */
export function notifiedBy({ service, sender }: Outbox, sink: Sink) {
  const desk = `desk@${sender.domain}`
  const letter = `From: Ship Desk <${desk}>\r\nTo: lena@harbor.example\r\nSubject: Berth 4\r\n\r\nYour berth is ready.\r\n`
  const about = (id: string): SinkMessage[] =>
    sink.messages.filter(({ from, data }) => from === '' && data.includes(id))
  return {
    desk,
    letter,
    about,
    /** Submits a message. Answers its id. */
    async submit(
      t: Test,
      { from = desk, mail = '', recipients, message = letter }: Envelope,
      apiKey = sender.apiKey,
    ): Promise<string> {
      const client = await openSession(t, service, { apiKey })
      t.match(await client.command(`MAIL FROM:<${from}>${mail}`), /^250 /)
      for (const recipient of recipients) t.match(await client.command(`RCPT TO:${recipient}`), /^250 /)
      t.match(await client.command('DATA'), /^354 /)
      return queueId(await client.finish(message))
    },
    /** The notification of a message, once it has arrived. */
    notification: (id: string, action: string): Promise<SinkMessage> =>
      until(
        `a notification: ${action}`,
        () => about(id).find(({ data }) => data.includes(`Action: ${action}\r\n`)),
        40_000,
      ),
  }
}

/** The raw parts of a multipart/report. */
export function partsOf({ data }: SinkMessage): string[] {
  const text = data.toString()
  const boundary = /boundary="([^"]+)"/.exec(text)?.[1]
  return text.split(`--${boundary}`).slice(1, -1)
}
