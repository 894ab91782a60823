import type { Sender } from './service.ts'

export interface V2Answer {
  readonly status: number
  readonly body: {
    readonly data?: { readonly message_id: string }
    readonly message: string
    readonly error_info: { readonly error_message: string; readonly error_code: number } | null
  }
  readonly headers: Headers
}

/** The least a v2 call needs; `extra` goes on top. */
export function v2Body(sender: Sender, extra: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    personalizations: [{ recipient: 'lena@harbor.example' }],
    from: { fromEmail: `desk@${sender.domain}`, fromName: 'Ship Desk' },
    subject: 'Berth 4',
    content: '<p>Your berth is ready.</p>',
    ...extra,
  }
}

/** POST /v2/sendEmail with a JSON body. */
export async function sendV2(
  base: string,
  apiKey: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<V2Answer> {
  const response = await fetch(`${base}/v2/sendEmail`, {
    method: 'POST',
    headers: { api_key: apiKey, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as V2Answer['body'], headers: response.headers }
}
