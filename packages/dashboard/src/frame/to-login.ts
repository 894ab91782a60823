import type { FastifyRequest } from 'fastify'
import { type Answer, redirect } from './answer.ts'

/** A longer URL is not carried through the log-in: headers of responses are limited, too. */
const MAX_RETURN_LENGTH = 2000

/** To the log-in, and back to the page afterwards: after a form, to the page that has it. */
export function toLogin({ url }: FastifyRequest): Answer {
  const isKept = url !== '/app' && url.length < MAX_RETURN_LENGTH
  return redirect(isKept ? `/app/login?to=${encodeURIComponent(url)}` : '/app/login')
}
