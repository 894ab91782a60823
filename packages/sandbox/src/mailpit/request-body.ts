import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { NotSent } from '../outgoing/link-requests.ts'
import { NotShown } from '../reading/message-reader.ts'
import { BadTerm } from '../search/read-search.ts'

/** Something that a request got wrong; the text names the field. */
export class BadRequest extends Error {}

export type Fields = Readonly<Record<string, unknown>>

/** Messages with attachments come as JSON, too. It is read in the main loop, in 0.05 s. */
const MAX_BODY = 10 * 1024 * 1024
/** Ids of a request: all messages that the inbox keeps. */
const MAX_IDS = 10_000
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Bodies are JSON whatever their type says, and none is an empty one: clients of Mailpit's API differ in both. */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_BODY }, (_request, body, done) => {
    if (body.length === 0) return done(null, {})
    try {
      const value: unknown = JSON.parse(body.toString())
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return done(null, value)
    } catch {
      // Said below.
    }
    return done(new BadRequest('the body must be a JSON object'))
  })
}

/**
 * Refuses changes by pages of other sites: browsers send a text to any address without asking, and name their own site with it. Programs, which Mailpit's API
 * is for, name none.
 */
export async function refuseOtherSites(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  return SAFE.has(request.method) ? undefined : refuseOtherSitesAlways(request, reply)
}

/** The same for a GET that does more than read. */
export async function refuseOtherSitesAlways({ headers }: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  return isOfOtherSite(headers) ? sendError(reply, 403, 'pages of other sites cannot change the inbox') : undefined
}

/** Whether a page of another site made the request. */
export function isOfOtherSite({ origin, host, 'sec-fetch-site': site }: FastifyRequest['headers']): boolean {
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  return origin !== undefined && origin !== `http://${host}`
}

/** The answers to errors, as Mailpit's: a sentence in plain text. */
export function handleErrors(app: FastifyInstance): void {
  app.setErrorHandler((error: Error & { readonly statusCode?: number }, _request, reply) => {
    if (error instanceof NotSent) return sendError(reply, error.status, error.message)
    if (error instanceof BadTerm) return sendError(reply, 400, `query: ${error.message}`)
    if (error instanceof BadRequest) return sendError(reply, 400, error.message)
    if (error instanceof NotShown) return sendError(reply, 503, 'the inbox is busy; retry after a few seconds')
    const { statusCode = 500 } = error
    return sendError(reply, statusCode, statusCode < 500 ? error.message : 'the inbox failed to answer')
  })
}

export function sendError(reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply.code(status).type('text/plain; charset=utf-8').send(text)
}

export function bodyOf(request: FastifyRequest): Fields {
  return (request.body ?? {}) as Fields
}

/**
 * The fields of a call that changes what they select, with the letters of these names: Mailpit reads JSON whatever their case. Any other is refused,
 * because a misspelt one would select all.
 */
export function fieldsOf(given: Fields, names: readonly string[]): Fields {
  const nameOf = (one: string) => {
    const name = names.find((known) => known.toLowerCase() === one.toLowerCase())
    if (name === undefined)
      throw new BadRequest(`${one.slice(0, 60)}: is unknown to this call, which has ${names.join(', ') || 'none'}`)
    return name
  }
  return Object.fromEntries(Object.entries(given).map(([one, value]) => [nameOf(one), value]))
}

/** A list of texts; empty if it is absent or null. */
export function textsOf(fields: Fields, name: string): readonly string[] {
  const value = fields[name] ?? []
  if (!Array.isArray(value) || value.length > MAX_IDS || !value.every((one) => typeof one === 'string'))
    throw new BadRequest(`${name}: must be a list of at most ${MAX_IDS} texts`)
  return value
}

export function textOf(fields: Fields, name: string): string {
  const value = fields[name] ?? ''
  if (typeof value !== 'string') throw new BadRequest(`${name}: must be a text`)
  return value
}

/** A whole number from 0; the default if it is absent or negative, as Mailpit has it. */
export function numberOf(fields: Fields, name: string, byDefault: number, most: number): number {
  const text = fields[name] ?? ''
  if (text === '' || text === '-1') return byDefault
  if (typeof text !== 'string' || !/^\d{1,9}$/.test(text)) throw new BadRequest(`${name}: must be a whole number`)
  return Math.min(Number(text), most)
}
