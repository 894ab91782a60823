import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

export const BUCKET = 'mail'
export const ACCESS_KEY_ID = 'AKIDEXAMPLE'
export const SECRET_ACCESS_KEY = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
const REGION = 'eu-test-1'

export interface ObjectStorage {
  readonly url: string
  /** BODY_STORE and the settings of the storage. */
  readonly settings: Readonly<Record<string, string>>
  /** By their path in the bucket. */
  readonly objects: Map<string, Buffer>
  /** `METHOD path` of each request that was answered, in order. */
  readonly requests: string[]
  /** Called before a request is answered; what it returns replaces the answer. */
  react: (request: { method: string; path: string; body: Buffer }) => Reaction | Promise<Reaction>
}

/** undefined: as usual; a status with a code: that error; 'silent': no answer, ever; 'reset': the connection is closed. */
export type Reaction = undefined | 'silent' | 'reset' | { readonly status: number; readonly code: string }

/**
 * S3-compatible storage on loopback, in memory. It accepts a request only if its signature is the one that it computes itself from what
 * arrived (AWS Signature Version 4), and if the body has the SHA-256 that was signed.
 */
export async function startObjectStorage(t: Pick<Test, 'teardown'>): Promise<ObjectStorage> {
  const storage: Omit<ObjectStorage, 'url' | 'settings'> = {
    objects: new Map(),
    requests: [],
    react: () => undefined,
  }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer)
    } catch {
      return
    }
    const body = Buffer.concat(chunks)
    const { method = '', url = '' } = request
    const { pathname, searchParams } = new URL(url, 'http://storage')
    const path = decodeURIComponent(pathname).slice(BUCKET.length + 2)
    const reaction = await storage.react({ method, path, body })
    if (reaction === 'silent') return
    if (reaction === 'reset') return void request.socket.destroy()
    storage.requests.push(`${method} ${path}`)
    if (reaction) return fail(response, reaction.status, reaction.code)
    const problem = refusal(request, body)
    if (problem) return fail(response, 403, problem)
    if (!`${pathname}/`.startsWith(`/${BUCKET}/`)) return fail(response, 404, 'NoSuchBucket')
    if (method === 'PUT') storage.objects.set(path, body)
    if (method === 'DELETE') storage.objects.delete(path)
    if (method === 'GET' && path === '') return void response.end(listing(storage.objects, searchParams))
    const found = storage.objects.get(path)
    if (method === 'GET' && !found) return fail(response, 404, 'NoSuchKey')
    response.writeHead(method === 'DELETE' ? 204 : 200).end(method === 'GET' ? found : undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return Object.assign(storage, {
    url,
    settings: {
      BODY_STORE: `s3://${BUCKET}/bodies`,
      S3_ENDPOINT: url,
      S3_REGION: REGION,
      S3_ACCESS_KEY_ID: ACCESS_KEY_ID,
      S3_SECRET_ACCESS_KEY: SECRET_ACCESS_KEY,
    },
  })
}

function fail(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' })
  response.end(`<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>no</Message></Error>`)
}

function listing(objects: ReadonlyMap<string, Buffer>, query: URLSearchParams): string {
  const limit = Number(query.get('max-keys') ?? 1000)
  const after = query.get('start-after') ?? ''
  const keys = [...objects.keys()].filter((key) => key.startsWith(query.get('prefix') ?? '') && key > after).sort()
  const contents = keys.slice(0, limit).map((key) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`)
  return `<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>${BUCKET}</Name><IsTruncated>${keys.length > limit}</IsTruncated>${contents.join('')}</ListBucketResult>`
}

/** The code of S3's error if the request is not signed by the owner of the key; written from the specification, without the library. */
function refusal({ method = '', url = '', headers }: IncomingMessage, body: Buffer): string | undefined {
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    )
  if (!found) return 'AccessDenied'
  const [, id, day = '', region = '', names = '', signature] = found
  if (id !== ACCESS_KEY_ID) return 'InvalidAccessKeyId'
  const hash = String(headers['x-amz-content-sha256'])
  if (hash !== sha256(body)) return 'XAmzContentSHA256Mismatch'
  const date = String(headers['x-amz-date'])
  if (!/^\d{8}T\d{6}Z$/.test(date) || !date.startsWith(day)) return 'AccessDenied'
  if (!['host', 'x-amz-content-sha256', 'x-amz-date'].every((name) => names.split(';').includes(name)))
    return 'AccessDenied'
  const [path = '', query = ''] = url.split('?')
  const canonical = [
    method,
    path,
    query.split('&').sort().join('&'),
    ...names.split(';').map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    names,
    hash,
  ].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n')
  const key = [day, region, 's3', 'aws4_request'].reduce<Buffer>(hmac, Buffer.from(`AWS4${SECRET_ACCESS_KEY}`))
  return region === REGION && hmac(key, text).toString('hex') === signature ? undefined : 'SignatureDoesNotMatch'
}

const sha256 = (octets: Buffer | string): string => createHash('sha256').update(octets).digest('hex')
const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
