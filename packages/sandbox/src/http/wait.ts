import { readSearchTime, type SearchClock } from '@postrider/core'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { type InboxEntry, listed } from '../inbox-entry.ts'
import { BadRequest, fieldsOf, isOfOtherSite, textOf } from '../mailpit/request-body.ts'
import { BadTerm, readField, readSearch, type Search } from '../search/read-search.ts'
import { TooManyWaits, type Waits, type Wanted } from './waits.ts'

const PARAMETERS = ['to', 'from', 'subject', 'q', 'after', 'timeout']
/** Seconds. Clients and proxies give up after a minute or more. */
const TIMEOUT = { usual: 30, most: 120 } as const
/** Copies that a call in vain names. */
const MAX_NAMED = 5
const RETRY_SECONDS = '1'

/** `GET /messages/wait`. `show` answers with a copy. */
export function addWait(
  app: FastifyInstance,
  waits: Waits,
  show: (entry: InboxEntry, reply: FastifyReply) => Promise<unknown>,
): void {
  app.get('/messages/wait', { exposeHeadRoute: false }, async (request, reply) => {
    if (isOfOtherSite(request.headers))
      return reply.code(403).send({ error: 'pages of other sites cannot wait for messages' })
    const gone = new AbortController()
    const end = () => gone.abort()
    reply.raw.once('close', end)
    try {
      const { wanted, seconds } = wantedOf(request.query as Query)
      const found = await waits.wait(wanted, { milliseconds: seconds * 1000, signal: gone.signal })
      // No client waits for the response.
      if (gone.signal.aborted) return reply.hijack()
      return found ? await show(found, reply) : reply.code(404).send(inVain(waits.copiesAfter(wanted.after), seconds))
    } catch (error) {
      if (error instanceof TooManyWaits)
        return reply.code(503).header('retry-after', RETRY_SECONDS).send({ error: error.message })
      if (error instanceof BadRequest) return reply.code(400).send({ error: error.message })
      throw error
    } finally {
      reply.raw.removeListener('close', end)
    }
  })
}

type Query = Readonly<Record<string, unknown>>

/** Throws {@link BadRequest}, which names the parameter. */
function wantedOf(query: Query): { readonly wanted: Wanted; readonly seconds: number } {
  const fields = fieldsOf(query, PARAMETERS)
  for (const name of Object.keys(fields))
    if (textOf(fields, name).trim() === '') throw new BadRequest(`${name}: must not be empty`)
  const clock: SearchClock = { now: new Date(), timeZone: 'UTC' }
  const given = (name: string) => (fields[name] === undefined ? undefined : textOf(fields, name).trim())
  const to = given('to')
  if (to !== undefined && !/^[^\s@][^@]*@[^@]+$/.test(to))
    throw new BadRequest('to: must be one whole address; q=to:… finds parts of addresses')
  const search = [
    ...searchOf('q', given('q'), (text) => readSearch(text, clock)),
    ...searchOf('from', given('from'), (text) => readField('from', text, clock)),
    ...searchOf('subject', given('subject'), (text) => readField('subject', text, clock)),
  ]
  return {
    wanted: { search, to: to?.toLowerCase(), after: afterOf(given('after'), clock) },
    seconds: secondsOf(given('timeout')),
  }
}

function searchOf(name: string, text: string | undefined, read: (text: string) => Search): Search {
  try {
    return text === undefined ? [] : read(text)
  } catch (error) {
    throw error instanceof BadTerm ? new BadRequest(`${name}: ${error.message}`) : error
  }
}

function afterOf(text: string | undefined, clock: SearchClock): Wanted['after'] {
  if (text === undefined || /^[0-9a-f]{32}$/.test(text)) return text
  const time = readSearchTime(text, clock)
  if (!time)
    throw new BadRequest('after: must be the id of a message, or a time such as 2026-11-30T14:00:00.000Z, 5m or 2h')
  return time
}

function secondsOf(text: string | undefined): number {
  if (text === undefined) return TIMEOUT.usual
  if (!/^\d{1,3}$/.test(text) || Number(text) > TIMEOUT.most)
    throw new BadRequest(`timeout: must be a whole number of seconds, from 0 to ${TIMEOUT.most}`)
  return Number(text)
}

/** The response if no message came: mostly another one did, which the call did not request. */
function inVain(others: readonly InboxEntry[], seconds: number) {
  return {
    error: `no such message came within ${seconds} s`,
    others: others.length,
    newest: others.slice(-MAX_NAMED).reverse().map(listed),
  }
}
