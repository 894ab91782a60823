import formbody from '@fastify/formbody'
import multipart from '@fastify/multipart'
import { LIMITS, ServiceError } from '@postrider/core'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import qs from 'qs'
import { JsonError, parseStrictJson } from '../strict-json.ts'

/**
 * Reads v2's bodies: JSON, and HTML forms in three spellings (contract section 4.5). Whatever it was, the route sees one
 * object of the same shape.
 */
export type BodyObject = Record<string, unknown>

/** A file sent as a part of its own in multipart/form-data. */
export interface FilePart {
  readonly fileName: string
  readonly octets: Buffer
}

/** Bounds of a form; a JSON body has its own in strict-json.ts. */
const FORM = { depth: 8, parameterLimit: 200_000, arrayLimit: LIMITS.recipients } as const

export async function readBodies(app: FastifyInstance): Promise<void> {
  app.removeAllContentTypeParsers()
  const json = (_request: FastifyRequest, body: Buffer, done: (error: Error | null, value?: unknown) => void) => {
    try {
      done(null, jsonObject(body))
    } catch (error) {
      done(error as Error)
    }
  }
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, json)
  // No content type, or any other: JSON is what the contract recommends, so it is what we try.
  app.addContentTypeParser('*', { parseAs: 'buffer' }, json)
  await app.register(formbody, { bodyLimit: LIMITS.messageSize, parser: formObject })
  await app.register(multipart, {
    limits: {
      fieldNameSize: 256,
      fieldSize: LIMITS.messageSize,
      fields: 20_000,
      files: 100,
      parts: 20_100,
      fileSize: LIMITS.attachmentSize,
      headerPairs: 50,
    },
  })
}

function jsonObject(body: Buffer): BodyObject {
  if (isBlank(body)) throw new ServiceError('bodyBlank')
  let value: unknown
  try {
    value = parseStrictJson(body)
  } catch (error) {
    if (error instanceof JsonError) throw new ServiceError('jsonInvalid', { reason: error.message })
    throw error
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ServiceError('jsonInvalid', { reason: 'not an object' })
  }
  return notEmpty(value as BodyObject)
}

/** The three spellings, tried in the contract's order: `data=<JSON>`, brackets, top-level keys whose values are JSON. */
function formObject(text: string): BodyObject {
  // `curl -d '{…}'` says it is a form; it is JSON all the same.
  if (text.trimStart().startsWith('{')) return jsonObject(Buffer.from(text))
  return fromFields(qs.parse(text, { ...FORM, strictDepth: false }) as BodyObject)
}

function fromFields(fields: BodyObject): BodyObject {
  if (typeof fields.data === 'string' && fields.personalizations === undefined)
    return jsonObject(Buffer.from(fields.data))
  const body: BodyObject = {}
  for (const [name, value] of Object.entries(fields)) body[name] = structured(name, value)
  return notEmpty(body)
}

/** The parameters that are objects or arrays, and so may come as JSON text. */
const STRUCTURED = new Set(['personalizations', 'from', 'settings', 'attachments'])

function structured(name: string, value: unknown): unknown {
  if (!STRUCTURED.has(name) || typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return parseStrictJson(Buffer.from(value))
  } catch {
    throw new ServiceError('jsonInvalid', { reason: `form parameter ${name}` })
  }
}

/** Reads a multipart body, field by field; files become attachments for every recipient. Call it before validation. */
export async function readMultipart(request: FastifyRequest): Promise<void> {
  if (!request.isMultipart()) return
  const fields: string[] = []
  const files: FilePart[] = []
  for await (const part of request.parts()) {
    if (part.type === 'file') files.push({ fileName: part.filename, octets: await part.toBuffer() })
    else fields.push(`${encodeURIComponent(part.fieldname)}=${encodeURIComponent(String(part.value))}`)
  }
  request.body =
    fields.length === 0 ? undefined : formObject(fields.join('&').replace(/%5B/g, '[').replace(/%5D/g, ']'))
  request.fileParts = files
}

function notEmpty(body: BodyObject): BodyObject {
  if (Object.keys(body).length === 0) throw new ServiceError('bodyBlank')
  return body
}

function isBlank(body: Buffer): boolean {
  return body.every((octet) => octet === 0x20 || octet === 0x0a || octet === 0x0d || octet === 0x09)
}

declare module 'fastify' {
  interface FastifyRequest {
    fileParts: readonly FilePart[] | undefined
  }
}
