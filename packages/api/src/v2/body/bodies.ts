import { BeyondShare, JSON_LIMIT, jsonLength, LIMITS, MEASURED_FROM, ServiceError } from '@postrider/core'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { collectBody } from '../../http/collect-body.ts'
import { LARGE_BODY, LargeBody } from '../../http/large-body.ts'
import { JsonError, newCount, parseStrictJson, type ValueCount } from '../../http/strict-json.ts'
import { addField, type FormField, formFields, toObject } from './form.ts'
import { boundaryOf, MultipartError, type Part, partsOf } from './multipart.ts'
import { skipNullElements } from './null-elements.ts'
import { unreadable } from './unreadable.ts'

/**
 * Parsed body of v2: JSON, or an HTML form in one of three notations (contract section 4.5). The route gets an object of the same
 * shape for each.
 */
export type BodyObject = Record<string, unknown>

/** A file part of multipart/form-data. */
export interface FilePart {
  readonly fileName: string
  readonly octets: Buffer
}

type Read = (body: Buffer, request: FastifyRequest, count: ValueCount) => BodyObject

/** Registers the parsers of v2's bodies. `setAside`: large bodies, and those of many values, are left to the thread for large calls. */
export async function readBodies(app: FastifyInstance, setAside: boolean): Promise<void> {
  app.removeAllContentTypeParsers()
  const read = (type: string, parse: Read): void => {
    const act = collectBody(limitOf, (request, body, done) => {
      request.octets = body
      if (setAside && body.length > LARGE_BODY) return done(null, new LargeBody())
      try {
        const count = newCount(setAside)
        // Other bodies are validated together with the query and path (input.ts).
        if (request.routeOptions.config.operation?.submits) done(null, sendBody(parse(body, request, count)))
        else done(null, isBlank(body) ? {} : parse(body, request, count))
      } catch (error) {
        done(asRefusal(error as Error))
      }
    })
    app.addContentTypeParser(type, act)
  }
  read('application/json', (body, _, count) => jsonObject(body, count))
  read('application/x-www-form-urlencoded', formObject)
  read('multipart/form-data', multipartObject)
  read('message/rfc822', (body, request, count) => {
    if (!request.routeOptions.config.operation?.takesMessage) return jsonObject(body, count)
    request.message = body
    return {}
  })
  // Without a known content type, JSON is assumed, which the contract recommends.
  read('*', (body, _, count) => jsonObject(body, count))
}

function limitOf({ routeOptions }: FastifyRequest): number {
  return routeOptions.config.operation?.takesMany ?? LIMITS.messageSize
}

/** Passes bodies on unparsed, whatever their type: `curl --data-binary` declares a form. */
export function takeStreams(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
}

function asRefusal(error: Error): Error {
  if (error instanceof JsonError) return unreadable(error.message, error.reason)
  return error instanceof MultipartError ? unreadable(error.message) : error
}

function jsonObject(body: Buffer, count: ValueCount): BodyObject {
  if (isBlank(body)) throw new ServiceError('bodyBlank')
  const value = parseStrictJson(body, count)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new JsonError('body must be a JSON object')
  return value as BodyObject
}

function formObject(body: Buffer, request: FastifyRequest, count: ValueCount): BodyObject {
  // `curl -d '{…}'` declares a form, although the body is JSON.
  if (body.subarray(0, 100).toString().trimStart().startsWith('{')) return jsonObject(body, count)
  return fromFields(formFields(textOf(body, 'utf-8'), count.share), request, count)
}

/** To read a part, whose head has fields and parameters, takes as long as that many values. */
export const PART_VALUES = 4

/** All files become attachments for every recipient, whatever their parameter's name. */
function multipartObject(body: Buffer, request: FastifyRequest, count: ValueCount): BodyObject {
  if (isBlank(body)) throw new ServiceError('bodyBlank')
  const boundary = boundaryOf(request.headers['content-type'] ?? '')
  if (boundary === undefined) throw new MultipartError('Content-Type has no boundary')
  const fields: FormField[] = []
  const files: FilePart[] = []
  for (const part of partsOf(body, boundary)) {
    if ((fields.length + files.length) * PART_VALUES >= count.share) throw new BeyondShare()
    if (part.fileName === undefined) addField(fields, part.name, textOf(part.octets, part.charset))
    else if (!isUnchosen(part)) files.push({ fileName: part.fileName, octets: part.octets })
  }
  request.fileParts = files
  return fromFields(fields, request, count)
}

/** Browsers send an empty part without a file name if no file was chosen. */
export function isUnchosen({ fileName, octets }: Part): boolean {
  return fileName === '' && octets.length === 0
}

/** The three notations in the contract's order: `data=<JSON>`, brackets, and top-level keys with JSON values. */
function fromFields(fields: readonly FormField[], request: FastifyRequest, count: ValueCount): BodyObject {
  request.formValues = count
  if ((request.octets?.length ?? 0) > MEASURED_FROM) checkJsonLength(fields)
  const object = toObject(fields, count)
  if (typeof object.data === 'string' && object.personalizations === undefined) {
    return jsonObject(Buffer.from(object.data), count)
  }
  for (const name of STRUCTURED) {
    const value = object[name]
    if (typeof value === 'string' && /^\s*[[{]/.test(value)) object[name] = parseStrictJson(Buffer.from(value), count)
  }
  return object
}

/** Throws tooLarge if the texts take too much memory in JSON. Parameters that are JSON take no more than they did. */
function checkJsonLength(fields: readonly FormField[]): void {
  let length = 0
  for (const [name, value] of fields) if (!PARSED.has(name)) length += jsonLength(name) + jsonLength(value)
  if (length > JSON_LIMIT) {
    throw new ServiceError('tooLarge', { values: { limit: `${JSON_LIMIT / 1024 / 1024} MB in JSON` } })
  }
}

/** Parameters that are objects or arrays and may therefore be JSON text. */
const STRUCTURED = ['personalizations', 'from', 'settings', 'attachments'] as const
const PARSED: ReadonlySet<string> = new Set(['data', ...STRUCTURED])

/** Throws {@link JsonError}. */
export function textOf(octets: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset, { fatal: true, ignoreBOM: true }).decode(octets)
  } catch {
    throw new JsonError(`body is not valid ${charset.slice(0, 40)}`)
  }
}

/** Checks the body of sendEmail, which takes no parameters from path or query. Throws bodyBlank. */
function sendBody(body: BodyObject): BodyObject {
  if (Object.keys(body).length === 0) throw new ServiceError('bodyBlank')
  skipNullElements(body)
  return body
}

function isBlank(body: Buffer): boolean {
  return body.every((octet) => octet === 0x20 || octet === 0x0a || octet === 0x0d || octet === 0x09)
}

declare module 'fastify' {
  interface FastifyRequest {
    fileParts: readonly FilePart[] | undefined
    /** The body, if it is a message. */
    message: Buffer | undefined
  }
}
