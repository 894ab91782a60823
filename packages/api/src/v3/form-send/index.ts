import { LIMITS, type Principal, ServiceError } from '@postrider/core'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { EntryPointOptions } from '../../entry-points.ts'
import { reserveAsItComes, reserveBody, unknownLimit } from '../../http/body-budget.ts'
import { clientAddress } from '../../http/client-address.ts'
import { collectBody } from '../../http/collect-body.ts'
import { refuseOtherMethods } from '../../http/known-paths.ts'
import { LARGE_BODY, LargeBody } from '../../http/large-body.ts'
import { keepRate } from '../../http/rate-headers.ts'
import { answerLargeCalls } from '../../large-calls/index.ts'
import { bearerOf } from '../bearer.ts'
import { MAIL_SEND } from '../mail-send/index.ts'
import type { Operation } from '../operation.ts'
import { requireAllowedFor } from '../operations.ts'
import { beginRefusal, refuse } from '../refusal.ts'
import { FORM_TYPES, keyIn } from './fields.ts'
import { sendForm } from './send-form.ts'

const PATH = '/mail.send.json'
/** The permission is that of POST /v3/mail/send. */
const [SEND] = MAIL_SEND as readonly [Operation]

/**
 * The Web API that v3 replaced, of which programs still call one path: a form, whose answer is `{"message":"success"}`. The key is in Authorization, or in
 * the form, which then has to be received before anybody is known: such bodies share one part of the budget, and of one nothing is read but its key.
 */
export async function formSend(app: FastifyInstance, options: EntryPointOptions): Promise<void> {
  const { core, publicUrl, entrance, letIn } = options
  const admit = async (request: FastifyRequest, reply: FastifyReply, key: string | undefined): Promise<Principal> => {
    const onBehalfOf = request.headers['on-behalf-of']
    const acting = Array.isArray(onBehalfOf) ? onBehalfOf[0] : onBehalfOf
    const principal = await core.auth.authenticate(key, clientAddress(request), acting)
    await keepRate(core.rateLimits, principal.rates.sends, reply, true)
    requireAllowedFor(SEND, core, principal)
    return principal
  }
  app.setErrorHandler(sendFormRefusal)
  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.config.allow !== undefined) throw new ServiceError('methodNotAllowed')
  })
  refuseOtherMethods(app, [{ url: PATH, methods: ['POST'] }], () => ({ sends: true }))
  await app.register(async (inner) => {
    inner.addHook('onRequest', async (request, reply) => {
      if (letIn) request.principal = letIn()
      if (!entrance) return
      if (entrance.isStopping()) throw new ServiceError('notReady', { reason: 'the process is stopping' })
      const key = bearerOf(request)
      if (key !== undefined) request.principal = await admit(request, reply, key)
      requireForm(request)
      if (key === undefined) requireSmall(request, unknownLimit(entrance.budget))
      reserveBody(entrance.budget, request, reply)
    })
    inner.addHook('preParsing', async (request, reply, payload) =>
      entrance && request.headers['transfer-encoding'] !== undefined
        ? reserveAsItComes(entrance.budget, request, reply, payload as never)
        : payload,
    )
    inner.removeAllContentTypeParsers()
    const collect = collectBody(LIMITS.messageSize, (request, body, done) => {
      request.octets = body
      done(null, entrance && body.length > LARGE_BODY ? new LargeBody() : {})
    })
    for (const type of FORM_TYPES) inner.addContentTypeParser(type, collect)
    inner.addHook('preValidation', async (request, reply) => {
      if (entrance && !request.principal) request.principal = await admit(request, reply, keyIn(request))
    })
    if (entrance) answerLargeCalls(inner, entrance.largeCalls, sendFormRefusal)
    inner.post(PATH, { config: { sends: true } }, async (request, reply) => {
      await sendForm({ core, publicUrl, request, reply, isShared: entrance !== undefined })
      return { message: 'success' }
    })
  })
}

function requireSmall({ headers }: FastifyRequest, limit: number): void {
  if (Number(headers['content-length'] ?? 0) <= limit) return
  const most = Math.floor(limit / 1024 / 1024)
  throw refuse(413, `A form of more than ${most} MB needs its key in Authorization, not in api_key.`)
}

function requireForm({ headers }: FastifyRequest): void {
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1)
  if (!FORM_TYPES.some((one) => one === type.trim().toLowerCase())) {
    throw refuse(415, `Content-Type should be ${FORM_TYPES.join(' or ')}.`)
  }
  if (!/^identity$/i.test(headers['content-encoding'] ?? 'identity')) {
    throw refuse(415, 'Content-Encoding is not supported here.')
  }
}

/** Each error is a text, which begins with the name of the form's field. */
function sendFormRefusal(...[error, request, reply]: Parameters<typeof beginRefusal>): void {
  const errors = beginRefusal(error, request, reply).map(({ message, field }) =>
    field === null || message.includes(field) ? message : `${fieldIn(field)}: ${message}`,
  )
  reply.send({ message: 'error', errors })
}

/** `personalizations.0.to.1.email` is `to[1]`. */
function fieldIn(field: string): string {
  return field
    .replace(/^personalizations\.0\.?/, '')
    .replace(/\.email$/, '')
    .replace(/\.(\d+)/g, '[$1]')
    .replace(/^reply_to$/, 'replyto')
}
