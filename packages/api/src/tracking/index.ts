import { type Core, ServiceError, type TrackingTarget } from '@postrider/core'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { HEADERS, locationOf, PIXEL, sendPage, sendWord } from './answers.ts'
import { FORM_LIMIT } from './one-click.ts'
import { readerOf } from './reader.ts'
import { readerLanguage } from './reader-language.ts'
import { failurePage } from './reader-pages.ts'
import { askPreferences, askUnsubscribe, setPreferences, unsubscribe } from './unsubscribe.ts'

export interface TrackingOptions {
  readonly core: Core
}

/**
 * Returns the URL of a request without what follows the token in the path, where mail programs and people leave anything: the router would refuse
 * percent signs that encode nothing.
 */
export function withoutTrail(url: string): string {
  return url.startsWith('/t/') ? url.replace(/^(\/t\/[a-z]\/[\w-]+)[^?\w-][^?]*/, '$1') : url
}

interface Route {
  readonly url: string
  readonly kind: TrackingTarget['kind']
  readonly methods: readonly HTTPMethods[]
  readonly act: (target: TrackingTarget, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>
  /** Answers a token that was not sealed here. */
  readonly refuse: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>
}

/**
 * Serves tracking pixels, click redirects and the pages for recipients, at any host name and without key, cookie or credit. The sealed
 * token contains all data needed, so pixels and redirects work even if the database is unavailable. A token that was not sealed
 * here returns 404, with a page for people where people see it, and nothing of it is echoed.
 */
export async function tracking(app: FastifyInstance, { core }: TrackingOptions): Promise<void> {
  const routes: readonly Route[] = [
    {
      url: '/o/*',
      kind: 'open',
      methods: ['GET', 'HEAD'],
      async act(target, request, reply) {
        await core.tracking.note(target, readerOf(request))
        // Webmail with cross-origin isolation can load it too.
        return reply.header('cross-origin-resource-policy', 'cross-origin').type('image/gif').send(PIXEL)
      },
      refuse: sendNothing,
    },
    {
      url: '/c/*',
      kind: 'click',
      methods: ['GET', 'HEAD'],
      async act(target, request, reply) {
        const location = locationOf(target.url)
        if (location === undefined) return sendNothing(request, reply)
        await core.tracking.note(target, readerOf(request))
        return sendWord(reply.header('location', location), 302, 'Found')
      },
      refuse: sendNothing,
    },
    {
      url: '/u/*',
      kind: 'unsubscribe',
      methods: ['GET', 'HEAD', 'POST'],
      act: (target, request, reply) =>
        (request.method === 'POST' ? unsubscribe : askUnsubscribe)({ core, target, request, reply }),
      refuse: sendBroken,
    },
    {
      url: '/p/*',
      kind: 'preferences',
      methods: ['GET', 'HEAD', 'POST'],
      act: (target, request, reply) =>
        (request.method === 'POST' ? setPreferences : askPreferences)({ core, target, request, reply }),
      refuse: sendBroken,
    },
  ]

  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: FORM_LIMIT }, (_request, body, done) => {
    done(null, body)
  })
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(HEADERS)
  })
  app.setErrorHandler(sendError)
  for (const { url, kind, methods, act, refuse } of routes) {
    app.route<{ Params: { '*': string } }>({
      url,
      method: methods.filter((method) => method !== 'HEAD'),
      schema: { hide: true },
      async handler(request, reply) {
        const target = core.tracking.read(kind, request.params['*'])
        return target ? act(target, request, reply) : refuse(request, reply)
      },
    })
    const others = app.supportedMethods.filter((method) => !(methods as readonly string[]).includes(method))
    answerAll(app, url, others, (reply) =>
      sendWord(reply.header('allow', methods.join(', ')), 405, 'Method not allowed'),
    )
  }
  for (const url of ['/', '/*']) answerAll(app, url, app.supportedMethods, (reply) => sendWord(reply, 404, 'Not found'))
}

/** A person sees neither a pixel nor, as a rule, a redirect. */
async function sendNothing(_request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return sendWord(reply, 404, 'Not found')
}

/** A link that a mail client has cut, or that was copied in part, is opened by a recipient who wants to unsubscribe. */
async function sendBroken(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return sendPage(reply, 404, await failurePage(readerLanguage(request), 'broken'))
}

/** Responds before the body is read. */
function answerAll(
  app: FastifyInstance,
  url: string,
  methods: readonly string[],
  answer: (reply: FastifyReply) => FastifyReply,
): void {
  const act = async (_request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => answer(reply)
  app.route({ url, method: [...methods] as HTTPMethods[], schema: { hide: true }, onRequest: act, handler: act })
}

/** Sends a generic error response that never echoes the request. */
async function sendError(
  error: FastifyError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const status = error instanceof ServiceError ? error.row.status : ((error as FastifyError).statusCode ?? 500)
  if (status >= 400 && status < 500) return sendWord(reply, status, status === 413 ? 'Too large' : 'Bad request')
  request.log.error({ err: error, route: request.routeOptions.url }, 'internal error')
  return sendPage(reply, 500, await failurePage(readerLanguage(request), 'error'))
}
