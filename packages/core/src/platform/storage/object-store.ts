import { createHash } from 'node:crypto'
import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { AwsV4Signer } from 'aws4fetch'
import { pause, timerDelay } from '../concurrency/timer-delay.ts'
import type { ObjectStoreConfig } from '../config/object-storage.ts'
import { count, observe } from '../metrics/metrics.ts'
import { readBeginning } from './read-beginning.ts'

/** Objects in a bucket of S3-compatible storage, under the prefix of its configuration. */
export interface ObjectStore {
  /** Where the objects are, for people: `s3://BUCKET/PREFIX`. */
  readonly name: string
  /** Resolves after the response 200, when the object is durable. An object of that key is replaced. */
  put(key: string, body: Buffer, options: ObjectLimits): Promise<void>
  /** Throws an {@link ObjectStoreError} of kind "missing" if there is no such object, and "answer" if it is larger than `maxBytes`. */
  get(key: string, options: ObjectLimits & { readonly maxBytes: number }): Promise<Buffer>
  /** Removing an object that does not exist succeeds. */
  remove(key: string, options: ObjectLimits): Promise<void>
  /** Returns up to `limit` keys (at most 1000) that begin with `prefix` and follow `after`, in the order of their bytes. */
  list(
    prefix: string,
    options: ObjectLimits & { readonly after?: string | undefined; readonly limit: number },
  ): Promise<{ readonly keys: readonly string[]; readonly isComplete: boolean }>
  /** Closes idle connections. */
  close(): void
}

export interface ObjectLimits {
  /** Milliseconds for all tries together. */
  readonly timeoutMs: number
}

/**
 * Why the storage did not do what it was asked: "missing" if there is no such object; "unavailable" if it may do it later; "refused" if the
 * operator has to change something; "answer" if the answer makes no sense.
 */
export type ObjectStoreFailure = 'missing' | 'unavailable' | 'refused' | 'answer'

/** The message says what to do, for the operator. It contains neither keys of objects nor secrets. */
export class ObjectStoreError extends Error {
  override readonly name = 'ObjectStoreError'
  readonly kind: ObjectStoreFailure

  constructor(kind: ObjectStoreFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

type Operation = 'put' | 'get' | 'remove' | 'list'

interface Call {
  readonly operation: Operation
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: Buffer
  /** Bytes of the answer's body. */
  readonly maxBytes: number
  readonly timeoutMs: number
}

const METHODS = { put: 'PUT', get: 'GET', remove: 'DELETE', list: 'GET' } as const
/** The permission that an operation needs, for the error that says so. */
const PERMISSIONS = { put: 's3:PutObject', get: 's3:GetObject', remove: 's3:DeleteObject', list: 's3:ListBucket' }
/** Connections at once; further requests wait for one, within their time. */
const CONNECTIONS = 64
const TRIES = 3
/** Milliseconds before the second try, twice that before the third; half of it is random. */
const BACK_OFF = 100
/** Bytes of the answer to a put or remove, or of an error, that are read. */
const ANSWER_BYTES = 16 * 1024
const LIST_BYTES = 2 * 1024 * 1024
const MAX_LISTED = 1000
/** Bytes hashed without yielding to the event loop. */
const HASH_CHUNK = 1024 * 1024
const EMPTY_HASH = createHash('sha256').digest('hex')

/** A client of one bucket. aws4fetch signs; requests, time limits and retries are ours. */
export function createObjectStore(config: ObjectStoreConfig): ObjectStore {
  const { bucket, prefix, endpoint } = config
  const isTls = endpoint.startsWith('https:')
  const options = { keepAlive: true, maxSockets: CONNECTIONS, maxFreeSockets: 16, timeout: 60_000 }
  const agent = isTls ? new TlsAgent(options) : new PlainAgent(options)
  const signingKeys = new Map<string, ArrayBuffer>()
  const pathOf = (key: string) => `/${bucket}/${prefix}${key}`

  async function run(call: Call): Promise<Buffer> {
    const began = performance.now()
    const result = (name: 'ok' | ObjectStoreFailure) => {
      count('object_store_requests_total', { operation: call.operation, result: name })
      observe('object_store_seconds', (performance.now() - began) / 1000, { operation: call.operation })
    }
    try {
      const answer = await withRetries(call, began)
      result('ok')
      return answer
    } catch (error) {
      result(error instanceof ObjectStoreError ? error.kind : 'answer')
      throw error
    }
  }

  async function withRetries(call: Call, began: number): Promise<Buffer> {
    const hash = call.body ? await sha256(call.body) : EMPTY_HASH
    for (let tried = 1; ; tried++) {
      try {
        const left = call.timeoutMs - (performance.now() - began)
        // A connection that is silent leaves half of the time for another one.
        return await exchange(call, hash, tried === 1 ? left / 2 : left)
      } catch (error) {
        const wait = BACK_OFF * 2 ** (tried - 1) * (0.5 + Math.random() / 2)
        const mayRetry = error instanceof ObjectStoreError && error.kind === 'unavailable' && tried < TRIES
        if (!mayRetry || performance.now() - began + wait >= call.timeoutMs) throw error
        await pause(wait)
      }
    }
  }

  async function exchange(call: Call, hash: string, milliseconds: number): Promise<Buffer> {
    const url = new URL(call.path, endpoint)
    for (const [name, value] of Object.entries(call.query ?? {})) url.searchParams.set(name, value)
    const signed = await new AwsV4Signer({
      method: METHODS[call.operation],
      url: url.href,
      headers: { 'x-amz-content-sha256': hash },
      accessKeyId: config.accessKeyId,
      secretAccessKey: config.secretAccessKey,
      region: config.region,
      service: 's3',
      cache: signingKeys,
    }).sign()
    const signal = AbortSignal.timeout(timerDelay(milliseconds))
    try {
      const { status, body } = await send(call, signed, signal)
      if (status === 200 || (status === 204 && call.operation === 'remove')) return body
      throw refusal(call, status, body.toString('latin1'))
    } catch (error) {
      if (error instanceof ObjectStoreError) throw error
      throw new ObjectStoreError('unavailable', unreachable(endpoint, signal.aborted, error as NodeJS.ErrnoException), {
        cause: error,
      })
    }
  }

  function send(
    { body, maxBytes, operation }: Call,
    { method, url, headers }: { method: string; url: URL; headers: Headers },
    signal: AbortSignal,
  ): Promise<{ status: number; body: Buffer }> {
    return new Promise((resolve, reject) => {
      const request = (isTls ? tlsRequest : plainRequest)(url, {
        agent,
        method,
        signal,
        headers: {
          ...Object.fromEntries(headers),
          'user-agent': 'Postrider',
          ...(operation === 'put' ? { 'content-length': body?.length ?? 0 } : {}),
        },
      })
      request.on('error', reject)
      request.on('response', (response) => {
        const { statusCode: status = 0 } = response
        // The page of an error, which may be that of a proxy, says enough at its beginning.
        const answer = status === 200 ? read(response, maxBytes) : readBeginning(response, ANSWER_BYTES)
        answer.then((body) => resolve({ status, body }), reject)
      })
      request.end(body)
    })
  }

  /** The error for an answer that is not a success. S3 names its reason in the element Code. */
  function refusal({ operation }: Call, status: number, text: string): ObjectStoreError {
    const code = /<Code>([A-Za-z0-9.]{1,60})<\/Code>/.exec(text)?.[1]
    const named = `${status}${code === undefined ? '' : ` ${code}`}`
    if (code === 'NoSuchBucket')
      return new ObjectStoreError('refused', `object storage has no bucket ${bucket} (${named}): create it`)
    if (status === 404) return new ObjectStoreError('missing', `object storage has no such object (${named})`)
    if (code === 'RequestTimeTooSkewed')
      return new ObjectStoreError(
        'refused',
        `object storage refused the time of this host (${named}): correct its clock`,
      )
    if (code === 'SignatureDoesNotMatch' || code === 'InvalidAccessKeyId' || status === 401) {
      return new ObjectStoreError(
        'refused',
        `object storage refused the credentials (${named}): check S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY and S3_REGION`,
      )
    }
    if (status === 403) {
      return new ObjectStoreError(
        'refused',
        `object storage does not allow this (${named}): grant ${PERMISSIONS[operation]} on the bucket ${bucket} to the owner of S3_ACCESS_KEY_ID`,
      )
    }
    if (status >= 500 || status === 429 || status === 408)
      return new ObjectStoreError('unavailable', `object storage at ${endpoint} answered ${named}`)
    if (status >= 300 && status < 400) {
      return new ObjectStoreError(
        'refused',
        `object storage redirects to another address (${named}): set S3_REGION, or S3_ENDPOINT, to those of the bucket ${bucket}`,
      )
    }
    return new ObjectStoreError(
      'refused',
      `object storage refused the request (${named}): check S3_ENDPOINT and S3_REGION`,
    )
  }

  return {
    name: `s3://${bucket}${prefix === '' ? '' : `/${prefix.replace(/\/$/, '')}`}`,
    async put(key, body, { timeoutMs }) {
      await run({ operation: 'put', path: pathOf(key), body, maxBytes: ANSWER_BYTES, timeoutMs })
    },
    get: (key, { maxBytes, timeoutMs }) => run({ operation: 'get', path: pathOf(key), maxBytes, timeoutMs }),
    async remove(key, { timeoutMs }) {
      await run({ operation: 'remove', path: pathOf(key), maxBytes: ANSWER_BYTES, timeoutMs }).catch(unlessMissing)
    },
    async list(under, { after, limit, timeoutMs }) {
      const query = {
        'list-type': '2',
        prefix: `${prefix}${under}`,
        'max-keys': String(Math.min(limit, MAX_LISTED)),
        ...(after === undefined ? {} : { 'start-after': `${prefix}${after}` }),
      }
      const answer = await run({ operation: 'list', path: `/${bucket}`, query, maxBytes: LIST_BYTES, timeoutMs })
      // Loaded when it is first needed, with the parser of XML.
      const { readObjectList } = await import('./object-list.ts')
      const list = readObjectList(answer.toString('utf8'))
      if (!list || list.keys.some((key) => !key.startsWith(`${prefix}${under}`) || leadsElsewhere(key)))
        throw new ObjectStoreError('answer', `${endpoint} did not answer with a list of objects: check S3_ENDPOINT`)
      return { keys: list.keys.map((key) => key.slice(prefix.length)), isComplete: !list.isTruncated }
    },
    close: () => agent.destroy(),
  }
}

/** A server or a proxy on the way may read it as the key of another object, which would then be read or removed. */
function leadsElsewhere(key: string): boolean {
  return key.split('/').some((part) => part === '.' || part === '..')
}

function unlessMissing(error: unknown): void {
  if (!(error instanceof ObjectStoreError && error.kind === 'missing')) throw error
}

async function sha256(body: Buffer): Promise<string> {
  const hash = createHash('sha256')
  for (let at = 0; at < body.length; at += HASH_CHUNK) {
    if (at > 0) await pause(0)
    hash.update(body.subarray(at, at + HASH_CHUNK))
  }
  return hash.digest('hex')
}

/** Reads an answer into one buffer. A body that ends early is an error of the connection. */
function read(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    response.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) {
        response.destroy()
        reject(new ObjectStoreError('answer', `the answer of object storage is larger than ${maxBytes} bytes`))
      } else chunks.push(chunk)
    })
    response.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size)))
    response.on('error', reject)
    response.on('close', () => reject(new Error('the connection was closed within the answer')))
  })
}

function unreachable(endpoint: string, isLate: boolean, error: NodeJS.ErrnoException): string {
  if (isLate) return `object storage at ${endpoint} did not answer in time`
  const code = error.code ?? (error as { errors?: readonly NodeJS.ErrnoException[] }).errors?.[0]?.code ?? error.message
  return /CERT|SELF_SIGNED|UNABLE_TO/.test(code)
    ? `object storage at ${endpoint} has no trusted certificate (${code}): set NODE_EXTRA_CA_CERTS to the file of its authority`
    : `object storage at ${endpoint} could not be reached (${code})`
}
