import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expectCount } from './expect-count.ts'
import { run } from './processes.ts'

/** A call of the HTTP API that sends a message. */
export interface HttpCall {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** With NUMBER, for which each call gets a number of its own. */
  readonly body: string
}

const NUMBER = '%NUMBER%'

export interface Caller {
  readonly apiKey: string
  readonly domain: string
}

/** Of all calls so far. Each has a recipient of its own: a worker counts messages to the same one as part of a possible loop. */
let numbers = 0

const SUBJECT = 'Your berth'

export function v2Call({ apiKey, domain }: Caller, html: string, to = 'harbor.example'): HttpCall {
  const body = {
    from: { fromEmail: `desk@${domain}`, fromName: 'Harbour' },
    subject: SUBJECT,
    content: html,
    personalizations: [{ recipient: `of-${process.pid}-${NUMBER}@${to}` }],
  }
  return {
    path: '/v2/sendEmail',
    headers: { 'content-type': 'application/json', api_key: apiKey },
    body: JSON.stringify(body),
  }
}

/** With the content of the call, or of a dynamic template. */
export type V3Content =
  | { readonly subject: string; readonly html: string }
  | { readonly templateId: string; readonly data: Readonly<Record<string, unknown>> }

export function v3Call({ apiKey, domain }: Caller, content: V3Content, to = 'harbor.example'): HttpCall {
  const addressed = { to: [{ email: `of-${process.pid}-${NUMBER}@${to}` }] }
  const from = { email: `desk@${domain}`, name: 'Harbour' }
  const body =
    'html' in content
      ? {
          from,
          personalizations: [addressed],
          subject: content.subject,
          content: [{ type: 'text/html', value: content.html }],
        }
      : {
          from,
          personalizations: [{ ...addressed, dynamic_template_data: content.data }],
          template_id: content.templateId,
        }
  return {
    path: '/v3/mail/send',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
    body: JSON.stringify(body),
  }
}

/** Sends `messages` calls, of these in turn, as fast as they are answered. Returns seconds. */
export async function httpClients(
  apiUrl: string,
  calls: readonly HttpCall[],
  { messages, connections = 64 }: { readonly messages: number; readonly connections?: number },
): Promise<number> {
  const file = join(tmpdir(), `postrider-bench-calls-${process.pid}.json`)
  writeFileSync(file, JSON.stringify(calls))
  const order = {
    port: Number(new URL(apiUrl).port),
    connections,
    messages,
    first: numbers,
    number: NUMBER,
    calls: file,
  }
  numbers += messages
  try {
    const out = await run(process.execPath, ['bench/load/http-clients.ts', JSON.stringify(order)])
    return (JSON.parse(out) as { seconds: number }).seconds
  } finally {
    rmSync(file, { force: true })
  }
}

/** Sends one call and waits for its answer. */
export async function sendCall(apiUrl: string, { path, headers, body }: HttpCall): Promise<void> {
  const numbered = body.replace(NUMBER, String(numbers++))
  const response = await fetch(`${apiUrl}${path}`, { method: 'POST', headers: { ...headers }, body: numbered })
  await response.text()
  expectCount('status', response.status, path.startsWith('/v3/') ? 202 : 200)
}
