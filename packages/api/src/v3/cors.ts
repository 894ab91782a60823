import type { FastifyReply } from 'fastify'

/**
 * Returns a function that sets the CORS headers (contract 1.9): scripts of any origin may use the API but not send mail, because a page
 * that sends mail would expose its key to everyone.
 */
export function corsHeaders(publicUrl: string): (reply: FastifyReply, sends: boolean) => void {
  const { origin } = new URL(publicUrl)
  const reason = `${publicUrl}/docs`
  return (reply, sends) => {
    if (sends) {
      reply.header('access-control-allow-origin', origin)
      reply.header('x-no-cors-reason', reason)
    } else {
      reply.header('access-control-allow-origin', '*')
      reply.header('access-control-expose-headers', 'Link, Location')
    }
  }
}

/** Responds to a CORS preflight request (OPTIONS). */
export function sayPreflight(reply: FastifyReply, sends: boolean): void {
  const methods = sends ? 'POST' : 'HEAD, GET, PATCH, PUT, POST, OPTIONS, DELETE'
  reply.header('access-control-allow-methods', methods)
  reply.header('access-control-allow-headers', 'Authorization, Content-Type, On-behalf-of, Idempotency-Key')
  reply.header('access-control-max-age', sends ? '600' : '21600')
}
