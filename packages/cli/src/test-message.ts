import { readFileSync } from 'node:fs'
import { type ClassName, type Config, certificateFile, commandLines, fromShortMessageId } from '@postrider/core'
import { CommandError } from './command.ts'
import { local, reachable } from './first-run.ts'
import { submitBySmtp } from './smtp/submit.ts'

export const ENTRY_POINTS = ['v2', 'v3', 'smtp'] as const

export interface TestMessage {
  readonly key: string
  readonly from: string
  readonly to: string
  readonly subject: string
  /** The account's default if undefined. */
  readonly class: ClassName | undefined
}

const TEXT = 'This is a test message, sent by the command "postrider".'
const TIMEOUT_MS = 30_000

/** Submits a message to the running service and returns its id, 32 hex digits. Throws {@link CommandError} if it is not accepted. */
export const submit: Readonly<
  Record<(typeof ENTRY_POINTS)[number], (config: Config, message: TestMessage) => Promise<string>>
> = {
  async v2(config, { key, from, to, subject, class: of }) {
    const { status, body } = await post(
      config,
      '/v2/sendEmail',
      { api_key: key },
      {
        personalizations: [{ recipient: to }],
        from: { fromEmail: from },
        subject,
        content: `<p>${TEXT}</p>`,
        ...(of === undefined ? {} : { settings: { class: of } }),
      },
    )
    const { data, error_info: error } = body as {
      data?: { message_id?: string }
      error_info?: { error_message?: string } | null
    }
    return data?.message_id ?? reject(status, error?.error_message)
  },
  async v3(config, { key, from, to, subject, class: of }) {
    const { status, headers, body } = await post(
      config,
      '/v3/mail/send',
      { authorization: `Bearer ${key}` },
      {
        personalizations: [{ to: [{ email: to }] }],
        from: { email: from },
        subject,
        content: [{ type: 'text/plain', value: TEXT }],
        ...(of === undefined ? {} : { headers: { 'X-PR-Class': of } }),
      },
    )
    const { errors = [] } = body as { errors?: readonly { message?: string }[] }
    const id = fromShortMessageId(headers.get('x-message-id') ?? '')
    return id ?? reject(status, errors.map(({ message }) => message).join('; '))
  },
  async smtp(config, { key, from, to, subject, class: of }) {
    const header = [
      `From: <${from}>`,
      `To: <${to}>`,
      `Subject: ${encoded(subject)}`,
      ...(of === undefined ? [] : [`X-PR-Class: ${of}`]),
      'MIME-Version: 1.0',
      'Content-Type: text/plain; charset=utf-8',
    ]
    const reply = await submitBySmtp({
      host: local(config.relayHost),
      port: config.relayPort,
      ca: ownCertificate(config),
      user: 'apikey',
      password: key,
      from,
      to,
      message: [...header, '', TEXT].join('\r\n'),
    })
    const [, id] = /queued as ([0-9a-f]{32})\b/.exec(reply) ?? []
    if (id === undefined) throw new CommandError(`the relay returned no message id: ${reply}`)
    return id
  },
}

export interface RawMessageFile {
  readonly key: string
  readonly message: Buffer
  readonly from: string | undefined
  readonly to: readonly string[]
  readonly idempotencyKey: string | undefined
}

export interface SubmittedRaw {
  readonly message_id: string
  readonly corrected: string | null
  readonly problems: readonly { readonly path: string; readonly problem: string }[]
}

/** Submits a MIME message to the running service. Throws {@link CommandError} if it is not accepted. */
export async function submitRaw(
  config: Config,
  { key, message, from, to, idempotencyKey }: RawMessageFile,
): Promise<SubmittedRaw> {
  const query = new URLSearchParams(to.map((address): [string, string] => ['to', address]))
  if (from !== undefined) query.set('from', from)
  const own = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
  const headers = { api_key: key, 'content-type': 'message/rfc822', ...own }
  const { status, body } = await post(config, `/v2/messages/raw?${query}`, headers, message)
  const { data, error_info: error } = body as {
    data?: SubmittedRaw
    error_info?: { error_message?: string } | null
  }
  return data ?? reject(status, error?.error_message)
}

async function post(config: Config, path: string, headers: Record<string, string>, body: unknown) {
  const base = `http://${reachable(config.apiHost)}:${config.apiPort}`
  const response = await fetch(`${base}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch(() => undefined)
  if (!response)
    throw new CommandError(`could not reach the Web API at ${base}; start it with "${commandLines().start}"`)
  const parsed: unknown = await response.json().catch(() => ({}))
  return { status: response.status, headers: response.headers, body: parsed ?? {} }
}

function reject(status: number, problem: string | undefined): never {
  throw new CommandError(`the Web API rejected the message with status ${status}: ${problem || 'no reason given'}`)
}

/** A subject as a header field has it: an encoded word (RFC 2047) unless it is ASCII. */
function encoded(subject: string): string {
  return /^[\x20-\x7e]*$/.test(subject) ? subject : `=?utf-8?B?${Buffer.from(subject).toString('base64')}?=`
}

/** The relay's certificate, if this host has it: a self-signed one is trusted by no other name. */
function ownCertificate(config: Config): string | undefined {
  try {
    return readFileSync(certificateFile(config), 'utf8')
  } catch {
    return undefined
  }
}
