import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import { type Config, type Core, type Log, networkOf, plainAddress, written } from '@postrider/core'
import { createFormat, createIcons, isFromHere, loadAssets } from '@postrider/ui'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Answer, redirect, stillAfterForm } from './frame/answer.ts'
import type { Call, Form } from './frame/call.ts'
import { createAttemptCookie } from './frame/cookies/attempt-cookie.ts'
import { cookiePlace } from './frame/cookies/cookie-place.ts'
import { errorPage, failurePage, notFound } from './frame/error-pages.ts'
import type { DoLargeWork } from './frame/forms/large-work.ts'
import { createPace, PER_NETWORK, PER_SESSION } from './frame/forms/pace.ts'
import { createPageOfForm } from './frame/forms/page-of-form.ts'
import { FORM_LIMIT, parseForm } from './frame/forms/parse-form.ts'
import { keepUndo, keptUndo } from './frame/forms/undo.ts'
import { gateDocument, pageDocument, type Surroundings } from './frame/layout.ts'
import { languageOf, lastAccount, rememberAccount, setPreferences, themeOf, zoneOf } from './frame/preferences.ts'
import type { Right } from './frame/right.ts'
import type { DashboardRoute } from './frame/routes.ts'
import { createSendHtml, sendAsset } from './frame/send.ts'
import { toLogin } from './frame/to-login.ts'
import {
  accountOf,
  createSessionCookie,
  findVisitor,
  mayIn,
  type VisitedAccount,
  type Visitor,
} from './frame/visitor.ts'
import { frameWords } from './frame/words/frame-words.ts'
import { openLive } from './live/live.ts'
import { ROUTES } from './table.ts'

export { type DocsReader, readerOf } from './reader-of.ts'
export { ROUTES } from './table.ts'

export type AnswerBadAddress = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

export { type LargeWork, WorkRefused } from './frame/forms/large-work.ts'

export interface DashboardOptions {
  readonly core: Core
  readonly config: Config
  readonly log: Log
  readonly doLargeWork: DoLargeWork
  /** Aborted when the process stops; ends the streams. */
  readonly draining: AbortSignal
  /** Receives what answers a request whose path cannot be percent-decoded, and so matches no route. */
  readonly onBadAddress: (answer: AnswerBadAddress) => void
}

/** Maximum octets of a form for which no session is needed. */
const OPEN_FORM_LIMIT = 16 * 1024
/** Pages of a visitor who must set up a second factor first. */
const ENROLMENT = /^\/(?:security|logout)\b/
/** A token that is longer is none of ours. */
const MAX_TOKEN = 100

/** Everything about a request that a page and its frame need. */
interface Visit {
  readonly call: Call
  readonly around: Surroundings
  readonly visitor: Visitor | undefined
  readonly account: VisitedAccount | undefined
}

/**
 * The pages for people, under /app: a plugin of the API's application. It translates between forms, pages and core, and decides nothing: core's
 * table of roles says who may do what, and every account page passes its account to core.
 */
export async function dashboard(
  app: FastifyInstance,
  { core, config, log, doLargeWork, draining, onBadAddress }: DashboardOptions,
): Promise<void> {
  const assets = await loadAssets('/app/-')
  const icon = createIcons(assets)
  const sendHtml = createSendHtml(config.publicPath)
  const place = cookiePlace(config)
  const sessionCookie = createSessionCookie(place)
  const attemptCookie = createAttemptCookie(place)
  const scheme = config.publicUrl.startsWith('https:') ? 'https:' : 'http:'
  const pageOfForm = createPageOfForm(ROUTES)
  await app.register(cookie)
  // Forms only: parsing any other type costs more than it may, and no page needs one.
  app.removeAllContentTypeParsers()
  await app.register(formbody, { bodyLimit: FORM_LIMIT, parser: parseForm })

  async function visit(request: FastifyRequest, reply: FastifyReply, route?: DashboardRoute): Promise<Visit> {
    const language = languageOf(request)
    const now = new Date(core.clock.now())
    const visitor = await findVisitor(core, sessionCookie, request)
    const params = request.params as Readonly<Record<string, string>>
    const account = accountOf(visitor, params.account)
    const query = (request.query ?? {}) as Form
    const said = typeof query.said === 'string' ? query.said : ''
    const reads = route?.for === 'account' && route.mayBeOld && said === '' ? core.oldReads() : undefined
    const [settings, lastEvent] = account
      ? await Promise.all([
          core.accounts.settings.show(account.id),
          // Read before the page's data, so that the stream tells everything that the page does not show.
          request.method === 'GET' ? core.events.lastNumber(account.id, reads) : 0,
        ])
      : []
    const dayZone = settings?.timeZone ?? 'UTC'
    const call: Call = {
      core,
      reads,
      config,
      log,
      doLargeWork,
      request,
      written: () => written(reply.raw),
      address: plainAddress(request.ip ?? ''),
      language,
      format: createFormat(language, zoneOf(request) ?? dayZone, now, dayZone),
      icon,
      now,
      params,
      query,
      form: (request.body ?? {}) as Form,
      visitor,
      token: sessionCookie.read(request),
      begun: attemptCookie.read(request),
    }
    const may = (right: Right) => account !== undefined && mayIn(account, right)
    const at = request.url.split('?', 1)[0] as string
    const around = {
      assets,
      config,
      icon,
      language,
      theme: themeOf(request),
      now,
      ahead: core.clock.ahead(),
      at,
      said,
      undo: said === '' ? undefined : keptUndo(request, account?.id),
      visitor,
      account,
      home: account ?? lastAccount(request, visitor?.accounts ?? []),
      lastEvent,
      may,
    }
    return { call, around, visitor, account }
  }

  async function answerTo(route: DashboardRoute, { call, around, visitor, account }: Visit): Promise<Answer> {
    if (route.for === 'everybody') return route.act(call)
    if (!visitor) return toLogin(call.request)
    if (visitor.mustEnrol && !(route.for === 'users' && ENROLMENT.test(route.path))) return redirect('/app/security')
    const userCall = { ...call, visitor }
    const words = frameWords(call.language)
    const unknown = () => failurePage({ status: 404, title: words.notFound, text: words.notFoundText }, around)
    if (route.for === 'users') return route.act(userCall)
    if (route.for === 'operators') return visitor.user.operator ? route.act(userCall) : unknown()
    if (!account) return unknown()
    if (route.right !== null && !around.may(route.right)) {
      const text = words.forbiddenText(words.roles[account.role])
      return failurePage({ status: 403, title: words.forbidden, text }, around)
    }
    const base = `/app/${account.id}`
    const path = (below = '') => (below === '' ? base : `${base}/${below}`)
    const by = {
      keyId: null,
      userId: visitor.user.id,
      scopes: core.people.rights(account.role).scopes,
      role: { sessionId: visitor.sessionId, accountId: account.id, name: account.role },
      address: call.address,
    }
    return route.act({ ...userCall, account, by, may: around.may, path })
  }

  /** Errors that core reports are shown within the frame, so that the visitor can go on. */
  async function answerOrRefusal(route: DashboardRoute, visited: Visit): Promise<Answer> {
    try {
      return await answerTo(route, visited)
    } catch (error) {
      const answer = errorPage(error, visited.around, visited.call.request.id)
      if ((answer.status ?? 500) >= 500) throw error
      return answer
    }
  }

  async function send(answer: Answer, { around, call, visitor }: Visit, reply: FastifyReply): Promise<FastifyReply> {
    const { request } = call
    if ('begun' in answer && answer.begun !== undefined) attemptCookie.set(reply, answer.begun)
    switch (answer.kind) {
      case 'page': {
        // A visitor without a session sees errors without the frame.
        const document = visitor
          ? pageDocument(stillAfterForm(answer, request.method), { ...around, asOf: call.reads?.asOf() })
          : gateDocument({ kind: 'gate', title: answer.title, body: answer.body }, around)
        return sendHtml(request, reply, answer.status ?? 200, document)
      }
      case 'gate':
        return sendHtml(request, reply, answer.status ?? 200, gateDocument(answer, around))
      case 'redirect': {
        if (answer.said !== undefined) keepUndo(reply, answer.undo, config)
        const mark = answer.said === undefined ? '' : `${answer.to.includes('?') ? '&' : '?'}said=${answer.said}`
        return reply.header('cache-control', 'no-store').redirect(`${answer.to}${mark}`, 303)
      }
      case 'session':
        if (answer.token === null) sessionCookie.clear(reply)
        else sessionCookie.set(reply, answer.token)
        if (call.begun !== '') attemptCookie.clear(reply)
        return reply.header('cache-control', 'no-store').redirect(answer.to, 303)
      case 'preferences':
        setPreferences(reply, answer, config.publicPath)
        return reply.redirect(answer.to, 303)
      case 'file': {
        const asOf = call.reads?.asOf()
        if (asOf !== undefined) reply.header('as-of', asOf.toISOString())
        return reply
          .headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', ...answer.headers })
          .type(answer.type)
          .send(answer.body)
      }
    }
  }

  /** The rights of the visitor changed: the session goes on under a new token. */
  async function rotate(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const token = sessionCookie.read(request)
    const next = token === undefined ? undefined : await core.people.sessions.rotate(token)
    if (next !== undefined) sessionCookie.set(reply, next)
  }

  const [perSession, perNetwork] = [createPace(PER_SESSION), createPace(PER_NETWORK)]
  app.addHook('onRequest', async (request, reply) => {
    const token = sessionCookie.read(request)
    const seconds = Math.max(
      perNetwork.take(networkOf(request.ip ?? '')),
      token === undefined ? 0 : perSession.take(token.slice(0, MAX_TOKEN)),
    )
    if (seconds === 0) return undefined
    const around = await surroundingsWithoutSession(request)
    const words = frameWords(around.language)
    const answer = failurePage({ status: 429, title: words.tooFast, text: words.tooFastText(seconds) }, around)
    reply.header('retry-after', seconds)
    return sendHtml(request, reply, 429, gateDocument({ ...answer, kind: 'gate' }, around))
  })

  app.addHook('onRequest', async (request, reply) => {
    if (isFromHere(request, scheme)) return undefined
    const around = await surroundingsWithoutSession(request)
    const words = frameWords(around.language)
    const answer = failurePage({ status: 403, title: words.forbiddenAction, text: words.forbiddenActionText }, around)
    return sendHtml(request, reply, 403, gateDocument({ ...answer, kind: 'gate' }, around))
  })

  async function surroundingsWithoutSession(request: FastifyRequest): Promise<Surroundings> {
    const language = languageOf(request)
    const now = new Date(core.clock.now())
    const [theme, ahead, at] = [themeOf(request), core.clock.ahead(), request.url]
    return { assets, config, icon, language, theme, now, ahead, at, said: '', may: () => false }
  }

  onBadAddress(async (request, reply) => {
    const around = await surroundingsWithoutSession(request)
    return sendHtml(request, reply, 404, gateDocument({ ...notFound(around), kind: 'gate' }, around))
  })

  app.setErrorHandler(async (error, request, reply) => {
    const around = await surroundingsWithoutSession(request)
    const answer = errorPage(error, around, request.id)
    if (answer.status === 500) log.error({ err: error, request: request.id }, 'a page could not be built')
    return sendHtml(request, reply, answer.status ?? 500, gateDocument({ ...answer, kind: 'gate' }, around))
  })

  app.get<{ Params: { part: string } }>('/-/:part', async (request, reply) => {
    const asset = assets.find(request.params.part)
    return asset ? sendAsset(request, reply, asset) : reply.code(404).send('')
  })
  openLive(app, { core, sessionCookie, draining })
  for (const route of ROUTES) {
    app.route({
      method: route.method,
      bodyLimit: route.for === 'everybody' ? OPEN_FORM_LIMIT : FORM_LIMIT,
      url: route.for === 'account' ? `/:account${route.path}` : route.path,
      handler: async (request, reply) => {
        const visited = await visit(request, reply, route)
        if (visited.visitor?.mustRotate) await rotate(request, reply)
        if (visited.account) rememberAccount(request, reply, visited.account.id, config.publicPath)
        return send(await answerOrRefusal(route, visited), visited, reply)
      },
    })
  }
  app.route({
    method: ['GET', 'POST'],
    url: '/*',
    handler: async (request, reply) => {
      const page = request.method === 'GET' ? pageOfForm(request.url.split('?', 1)[0] as string) : undefined
      if (page !== undefined) return reply.header('cache-control', 'no-store').redirect(page, 303)
      const visited = await visit(request, reply)
      const words = frameWords(visited.call.language)
      const failure = { status: 404, title: words.notFound, text: words.notFoundText }
      return send(failurePage(failure, visited.around), visited, reply)
    },
  })
}
