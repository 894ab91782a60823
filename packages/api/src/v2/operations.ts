import { type Core, invalidParameter, requireScope } from '@postrider/core'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { presentAgent } from '../agent.ts'
import { setAsOf } from '../http/as-of.ts'
import { clientAddress } from '../http/client-address.ts'
import { idempotencyKeyOf } from '../http/idempotency-key.ts'
import { sayIgnored } from '../ignored.ts'
import { ACCOUNT } from './accounts/account.ts'
import { AUDIT } from './accounts/audit.ts'
import { CREDITS } from './accounts/credits.ts'
import { KEYS } from './accounts/keys.ts'
import { OWN_KEY } from './accounts/own-key.ts'
import { SUBACCOUNTS } from './accounts/subaccounts.ts'
import { takeStreams } from './body/bodies.ts'
import { ATTACHMENTS } from './content/attachments.ts'
import { TEMPLATES } from './content/templates.ts'
import { DOMAIN_DMARC } from './domains/domain-dmarc.ts'
import { DOMAINS } from './domains/domains.ts'
import { success } from './envelope.ts'
import { inputOf } from './input.ts'
import { DELIVERY } from './messages/delivery.ts'
import { MESSAGE_ACTIONS } from './messages/message-actions.ts'
import { MESSAGE_BODY } from './messages/message-body.ts'
import { MESSAGES } from './messages/messages.ts'
import { SEND_BATCH } from './messages/send-batch.ts'
import { SEND_EMAIL } from './messages/send-email.ts'
import { SendEmail } from './messages/send-email-schema.ts'
import { SEND_RAW } from './messages/send-raw.ts'
import type { Operation, Spelling } from './operation.ts'
import { EVENTS } from './reporting/events.ts'
import { EXPORTS } from './reporting/exports.ts'
import { STATS } from './reporting/stats.ts'
import { WEBHOOKS } from './reporting/webhooks.ts'
import { PRIVACY } from './suppressions/privacy.ts'
import { SUPPRESSIONS } from './suppressions/suppressions.ts'
import { unknownFinder, unknownOf } from './unknown-parameters.ts'

export const OPERATIONS: readonly Operation[] = [
  ...SEND_EMAIL,
  ...SEND_RAW,
  ...SEND_BATCH,
  ...DOMAINS,
  ...DOMAIN_DMARC,
  ...SUPPRESSIONS,
  ...TEMPLATES,
  ...ATTACHMENTS,
  ...SUBACCOUNTS,
  ...CREDITS,
  ...KEYS,
  ...OWN_KEY,
  ...PRIVACY,
  ...EVENTS,
  ...DELIVERY,
  ...MESSAGES,
  ...MESSAGE_BODY,
  ...MESSAGE_ACTIONS,
  ...STATS,
  ...EXPORTS,
  ...WEBHOOKS,
  ...ACCOUNT,
  ...AUDIT,
]

/** Registers the routes of the operations. Must be called in the scope that checks the key. */
export async function operationRoutes(app: FastifyInstance, { core }: { core: Core }): Promise<void> {
  app.decorateRequest('formValues', undefined)
  for (const operation of OPERATIONS) if (!operation.takes) addRoutes(app, core, operation)
  await app.register(async (streaming) => {
    takeStreams(streaming)
    for (const operation of OPERATIONS) if (operation.takes) addRoutes(streaming, core, operation)
  })
}

function addRoutes(app: FastifyInstance, core: Core, operation: Operation): void {
  const { submits } = operation
  const documentation = { ...operation, shown: shownAt(operation) }
  const ofBody = submits && {
    schema: { body: operation.input },
    preValidation: async ({ body }: FastifyRequest) => submits.checkBody(body),
  }
  for (const [url, ...methods] of operation.routes) {
    for (const method of methods) {
      app.route({
        url,
        method,
        config: { group: operation.group, operation, documentation },
        ...ofBody,
        onRequest: async ({ principal }) => {
          if (operation.scope !== null) requireScope(principal, operation.scope)
          if (submits) core.messages.requireMaySend(principal)
        },
        handler: (request, reply) => answer(operation, core, request, reply),
      })
    }
  }
}

/** The operation's documented path and method, and the first one with POST if that differs. */
function shownAt({ routes }: Operation): Spelling[] {
  const spellings = routes.flatMap(([path, ...methods]) => methods.map((method): Spelling => [path, String(method)]))
  const own = spellings.slice(0, 1)
  return own[0]?.[1] === 'POST' ? own : [...own, ...spellings.filter(([, method]) => method === 'POST').slice(0, 1)]
}

async function answer(
  operation: Operation,
  core: Core,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  if (operation.creates && idempotencyKeyOf(request) !== undefined) {
    throw invalidParameter(
      'Idempotency-Key',
      'is accepted by calls that send mail only; repeating this call repeats its effect',
    )
  }
  const { input, ignored } = operation.submits ? submittedIn(request) : validInputOf(operation, request)
  sayIgnored(reply, ignored)
  const { principal } = request
  const by = { keyId: principal.keyId, address: clientAddress(request), agent: presentAgent() }
  const reads = core.oldReads()
  const result = await operation.act(input, { core, reads, principal, by, request, reply })
  setAsOf(reply, reads)
  if ('stream' in result) {
    const type = result.type ?? operation.gives?.[0] ?? ''
    reply.type(BINARY.has(type) ? type : `${type}; charset=utf-8`)
    reply.header('content-disposition', disposition(result.fileName))
    return result.stream
  }
  if (reply.sent) return reply
  const { data, totalRecords, beside } = result
  const counted = totalRecords === undefined ? {} : { totalRecords }
  return { ...(operation.envelope?.bare ? { data } : success(data)), ...counted, ...beside }
}

const BINARY: ReadonlySet<string> = new Set(['message/rfc822', 'application/octet-stream'])

/** Returns Content-Disposition for a file with any name (RFC 6266 4.3, RFC 8187). */
function disposition(fileName: string): string {
  const plain = fileName.replace(/[^A-Za-z0-9._-]/g, '_').slice(0, 100)
  if (plain === fileName) return `attachment; filename="${plain}"`
  const encoded = encodeURIComponent(fileName.toWellFormed().slice(0, 200)).replace(/['()*]/g, '_')
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}

interface Read {
  readonly input: Record<string, unknown>
  /** Names of what has no effect. */
  readonly ignored: readonly string[]
}

const unknownInSubmission = unknownFinder(SendEmail)

function submittedIn({ body, query }: FastifyRequest): Read {
  return {
    input: body as Record<string, unknown>,
    ignored: [...unknownInSubmission(body), ...Object.keys(query as object)],
  }
}

function validInputOf(operation: Operation, request: FastifyRequest): Read {
  const input = inputOf(operation, request)
  const ignored = unknownOf(operation, input)
  const validate = request.getValidationFunction(operation.input) ?? request.compileValidationSchema(operation.input)
  if (!validate(input)) throw Object.assign(new Error('invalid input'), { validation: validate.errors ?? [], input })
  return { input, ignored }
}
