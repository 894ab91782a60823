import {
  type AccountOfUser,
  allows,
  type Core,
  PEOPLE_RIGHTS,
  type PeopleRight,
  rightsOf,
  type Session,
} from '@postrider/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CookiePlace } from './cookies/cookie-place.ts'
import type { Right } from './right.ts'

/** The person who asks, with the accounts that this person may see. */
export type Visitor = Session

/** The account of the page, and the visitor's role in it. */
export type VisitedAccount = AccountOfUser

export const SESSION_COOKIE = 'postrider'

/** The session cookie. */
export interface SessionCookie {
  read(request: FastifyRequest): string | undefined
  set(reply: FastifyReply, token: string): void
  clear(reply: FastifyReply): void
}

export function createSessionCookie({ prefix, options }: CookiePlace): SessionCookie {
  const name = `${prefix}${SESSION_COOKIE}`
  return {
    read: (request) => request.cookies[name],
    // A session ends by its row, 30 days after log-in at the latest; the cookie need not outlive it.
    set: (reply, token) => void reply.setCookie(name, token, { ...options, maxAge: 30 * 24 * 3600 }),
    clear: (reply) => void reply.clearCookie(name, options),
  }
}

/**
 * Header of requests that an open page makes by itself, to show what changed (page.js). They do not delay the end of the session, or a forgotten tab
 * would keep it. A client that omits the header prolongs only its own session.
 */
const BY_ITSELF = 'x-page-refresh'

/** Returns the visitor of the request; undefined without a session. `isPerson`: false for streams. */
export async function findVisitor(
  core: Core,
  cookie: SessionCookie,
  request: FastifyRequest,
  { isPerson = request.headers[BY_ITSELF] === undefined } = {},
): Promise<Visitor | undefined> {
  const token = cookie.read(request)
  return token === undefined ? undefined : core.people.sessions.find(token, { isPerson })
}

const ACCOUNT = /^[1-9]\d{0,9}$/

/** Returns the account of the path if the visitor is a member of it. */
export function accountOf(visitor: Visitor | undefined, text: string | undefined): VisitedAccount | undefined {
  if (text === undefined || !ACCOUNT.test(text)) return undefined
  return visitor?.accounts.find(({ id }) => id === Number(text))
}

/** Whether the visitor's role in the account has the right. */
export function mayIn({ role }: VisitedAccount, right: Right): boolean {
  const { scopes, people } = rightsOf(role)
  return isOfPeople(right) ? people.includes(right) : allows(scopes, right)
}

function isOfPeople(right: Right): right is PeopleRight {
  return PEOPLE_RIGHTS.includes(right as PeopleRight)
}
