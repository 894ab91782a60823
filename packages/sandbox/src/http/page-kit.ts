import { LANGUAGES, type Language, preferredLanguage } from '@postrider/ui'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { NotShown } from '../reading/message-reader.ts'

export type Query = Readonly<Record<string, unknown>>
export type PageRequest = FastifyRequest<{
  Params: { id: string; number: string }
  Querystring: Query
  Body: Readonly<Record<string, string>> | undefined
}>

/** The language that Accept-Language prefers, else English. */
export function languageOf({ headers }: Pick<FastifyRequest, 'headers'>): Language {
  return preferredLanguage(headers['accept-language'], LANGUAGES)
}

export function forbidden(reply: FastifyReply): unknown {
  return reply.code(403).send({
    error: 'the inbox can be changed only from a page of its own, or with DELETE /messages and the paths below /api/v1',
  })
}

export async function orNothing<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch((error: unknown) => {
    if (error instanceof NotShown) return undefined
    throw error
  })
}

/** The search of a list; characters beyond 200 are not read. */
export function searchOf({ q }: Query): string {
  return text(q).slice(0, 200)
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The query of the list that a page was reached from: its search, and where it begins. */
export function listQuery(query: Query): string {
  return queryOf({ q: searchOf(query), before: text(query.before) })
}

export function queryOf(fields: Readonly<Record<string, string>>): string {
  const given = Object.entries(fields).filter(([, value]) => value !== '')
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
}
