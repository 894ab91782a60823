import type { MessageDetails } from '@postrider/core'
import type { Test } from 'tap'
import type { Sender, TestService } from '../helpers/service.ts'
import { SmtpClient } from '../helpers/smtp-client.ts'

/** A session that has authenticated: over STARTTLS, or over TLS from the first byte. */
export async function openSession(
  t: Test,
  service: TestService,
  sender: Pick<Sender, 'apiKey'>,
  { tls = true }: { tls?: boolean } = {},
): Promise<SmtpClient> {
  const client = await connectRelay(t, service, { tls })
  if (!tls) {
    await client.command('EHLO client.test')
    await client.startTls()
  }
  await client.logIn(sender.apiKey)
  return client
}

/** A session that has seen the greeting and said nothing. */
export async function connectRelay(
  t: Test,
  { config }: TestService,
  { tls = false }: { tls?: boolean } = {},
): Promise<SmtpClient> {
  const client = await SmtpClient.connect(t, { port: tls ? config.relayTlsPort : config.relayPort, tls })
  const greeting = await client.reply()
  if (!greeting.startsWith('220 ')) throw new Error(`not a greeting: ${greeting}`)
  return client
}

/** A small message; `fields` stand on top of its header, each with its CRLF. */
export function mail({ domain }: Sender, fields = '', body = 'Your berth is ready.\r\n'): string {
  return `${fields}From: Ship Desk <desk@${domain}>\r\nTo: lena@harbor.example\r\nSubject: Berth 4\r\n\r\n${body}`
}

const QUEUED = /^250 2\.0\.0 Ok: queued as ([0-9a-f]{32})(?: \([^()]+\))?$/

/** The queue id in a 250; an Error for any other reply. */
export function queueId(reply: string): string {
  const id = QUEUED.exec(reply)?.[1]
  if (!id) throw new Error(`not accepted: ${reply}`)
  return id
}

/** The message a 250 speaks of. */
export async function shown({ core }: TestService, reply: string): Promise<MessageDetails> {
  const story = await core.messages.show(queueId(reply))
  if (!story) throw new Error(`${reply}: there is no such message`)
  return story
}

/** How much of an account's mail is stored: messages, deliveries waiting. */
export async function stored(
  { sql }: TestService,
  { accountId }: Sender,
): Promise<{ messages: number; deliveries: number }> {
  const [row] = await sql<{ messages: number; deliveries: number }[]>`
    select (select count(*)::int from messages where account_id = ${accountId}) as messages,
           (select count(*)::int from deliveries where account_id = ${accountId}) as deliveries`
  return row as { messages: number; deliveries: number }
}

export const NOTHING = { messages: 0, deliveries: 0 }
