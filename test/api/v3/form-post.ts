import { type CallAnswer, call } from '../call.ts'

export type FormEntry = readonly [name: string, value: string | Buffer, fileName?: string]

/** Octets as the form library of SendGrid's older clients writes them, in the order of the entries. */
export function multipart(entries: readonly FormEntry[]): { readonly type: string; readonly body: Buffer } {
  const boundary = '--------------------------403785959928897570604688'
  const parts = entries.flatMap(([name, value, fileName]) => {
    const file = fileName === undefined ? '' : `; filename="${fileName}"\r\nContent-Type: text/plain`
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`
    return [Buffer.from(head), Buffer.from(value), Buffer.from('\r\n')]
  })
  const body = Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)])
  return { type: `multipart/form-data; boundary=${boundary}`, body }
}

export interface FormPost {
  readonly type: string
  readonly body: string | Buffer
  /** In Authorization. */
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly method?: string
}

export function post(base: string, { type, body, key, headers, method = 'POST' }: FormPost): Promise<CallAnswer> {
  const bearer = key === undefined ? {} : { authorization: `Bearer ${key}` }
  return call(base, {
    method,
    path: '/api/mail.send.json',
    headers: { 'content-type': type, ...bearer, ...headers },
    body,
  })
}

export function encoded(entries: readonly (readonly [name: string, value: string])[]): FormPost {
  return {
    type: 'application/x-www-form-urlencoded',
    body: new URLSearchParams(entries as [string, string][]).toString(),
  }
}
