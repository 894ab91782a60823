import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CookiePlace } from './cookie-place.ts'

/**
 * The cookie that binds the second half of a log-in to the browser that began it: the answer of an OpenID provider, or of a passkey. No other
 * browser can use such an answer, and none that was made elsewhere works here. It lives for 10 minutes.
 */
export interface AttemptCookie {
  /** Empty without the cookie. */
  read(request: FastifyRequest): string
  set(reply: FastifyReply, value: string): void
  clear(reply: FastifyReply): void
}

export function createAttemptCookie({ prefix, options }: CookiePlace): AttemptCookie {
  const name = `${prefix}postrider-log-in`
  return {
    read: (request) => request.cookies[name] ?? '',
    set: (reply, value) => void reply.setCookie(name, value, { ...options, maxAge: 600 }),
    clear: (reply) => void reply.clearCookie(name, options),
  }
}
