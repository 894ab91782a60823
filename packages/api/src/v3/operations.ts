import {
  allows,
  type Core,
  SCOPES as KEY_SCOPES,
  type Principal,
  requireScope,
  type Scope,
  ServiceError,
} from '@postrider/core'
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { setAsOf } from '../http/as-of.ts'
import { clientAddress } from '../http/client-address.ts'
import type { KnownPath } from '../http/known-paths.ts'
import { sayIgnored } from '../ignored.ts'
import { ACCESS_SETTINGS } from './accounts/access-settings.ts'
import { ACCOUNT_SETTINGS } from './accounts/account-settings.ts'
import { ALERTS } from './accounts/alerts.ts'
import { ENFORCED_TLS } from './accounts/enforced-tls.ts'
import { KEYS } from './accounts/keys.ts'
import { SCOPES } from './accounts/scopes.ts'
import { SUBUSERS } from './accounts/subusers.ts'
import { TEAMMATES } from './accounts/teammates.ts'
import { USER_PROBES } from './accounts/user-probes.ts'
import { ACTIVITY } from './activity/index.ts'
import { TEMPLATES } from './content/templates.ts'
import { inputOf } from './input.ts'
import { MAIL_SEND } from './mail-send/index.ts'
import { SCHEDULED_SENDS } from './mail-send/scheduled-sends.ts'
import type { Operation } from './operation.ts'
import { ADDRESS_VALIDATION } from './reporting/address-validation.ts'
import { BOUNCE_CLASSES } from './reporting/bounce-classifications.ts'
import { CATEGORIES } from './reporting/categories.ts'
import { PROVIDER_STATS } from './reporting/mailbox-providers.ts'
import { PARSE_SETTINGS } from './reporting/parse-settings.ts'
import { READER_STATS } from './reporting/reader-stats.ts'
import { STATS } from './reporting/stats.ts'
import { WEBHOOKS } from './reporting/webhooks.ts'
import { DOMAIN_AUTHENTICATION } from './senders/domain-authentication.ts'
import { IP_ADDRESSES } from './senders/ip-addresses.ts'
import { LINK_BRANDING } from './senders/link-branding.ts'
import { VERIFIED_SENDERS } from './senders/verified-senders.ts'
import { GROUP_SUPPRESSIONS } from './suppressions/group-suppressions.ts'
import { SUPPRESSION_GROUPS } from './suppressions/suppression-groups.ts'
import { SUPPRESSIONS } from './suppressions/suppressions.ts'

/** All operations of v3. */
export const OPERATIONS: readonly Operation[] = [
  ...MAIL_SEND,
  ...TEMPLATES,
  ...STATS,
  ...CATEGORIES,
  ...PROVIDER_STATS,
  ...SUPPRESSION_GROUPS,
  ...GROUP_SUPPRESSIONS,
  ...SUPPRESSIONS,
  ...BOUNCE_CLASSES,
  ...ACTIVITY,
  ...SCHEDULED_SENDS,
  ...SCOPES,
  ...KEYS,
  ...WEBHOOKS,
  ...ACCOUNT_SETTINGS,
  ...USER_PROBES,
  ...ENFORCED_TLS,
  ...DOMAIN_AUTHENTICATION,
  ...VERIFIED_SENDERS,
  ...PARSE_SETTINGS,
  ...SUBUSERS,
  ...LINK_BRANDING,
  ...TEAMMATES,
  ...IP_ADDRESSES,
  ...ALERTS,
  ...ACCESS_SETTINGS,
  ...ADDRESS_VALIDATION,
  ...READER_STATS,
]

/** A v3 path and the methods it accepts; any other method returns 405. */
interface Path extends KnownPath {
  readonly sends: boolean
}

export const PATHS: readonly Path[] = knownPaths()

function knownPaths(): Path[] {
  // Paths that differ only in parameter names are the same path.
  const shapes = Map.groupBy(OPERATIONS, ({ path }) => path.replace(/:\w+/g, ':'))
  return [...shapes.values()].map((operations) => {
    const methods: HTTPMethods[] = operations.map(({ method }) => method)
    // HEAD is GET without the body (RFC 9110 9.3.2).
    if (methods.includes('GET')) methods.push('HEAD')
    return { url: operations[0]?.path ?? '', sends: operations.some(({ sends }) => sends), methods }
  })
}

export interface RouteOptions {
  readonly core: Core
  readonly publicUrl: string
}

/** Registers the routes of the operations. Must be called in the scope that checks the key. */
export async function operationRoutes(app: FastifyInstance, options: RouteOptions): Promise<void> {
  for (const operation of OPERATIONS) {
    const { method, path: url, sends = false } = operation
    const config = { v3: operation, sends }
    app.route({ method, url, config, handler: (request, reply) => answer(operation, options, request, reply) })
  }
}

/** Throws scopeMissing; for operations that send mail, also accountSuspended and accountExpired. */
export function requireAllowedFor(operation: Operation, core: Core, principal: Principal): void {
  const { sends } = operation
  const scope = scopeFor(operation)
  if (scope !== null) requireScope(principal, scope)
  const { v3Rights } = principal
  if (v3Rights && operation.right !== null && !rightsFor(operation).some((right) => v3Rights.includes(right))) {
    throw new ServiceError('scopeMissing', { reason: `key ${principal.keyId} lacks ${operation.right}` })
  }
  if (sends) core.messages.requireMaySend(principal)
}

async function answer(
  operation: Operation,
  { core, publicUrl }: RouteOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const input = inputOf(operation, request)
  const { principal } = request
  const by = { keyId: principal.keyId, address: clientAddress(request) }
  const reads = core.oldReads()
  reply.code(operation.status)
  sayIgnored(reply, unknownIn(operation, request))
  const result = await operation.act(input, {
    core,
    reads,
    principal,
    by,
    publicUrl,
    rightsOf,
    scopeOf,
    lackingOf,
    readingOf,
    request,
    reply,
  })
  setAsOf(reply, reads)
  if (reply.sent) return reply
  if (result !== undefined) return result
  // An empty 204 response has no Content-Length (RFC 9110 8.6); other empty responses have the length 0.
  if (reply.statusCode !== 204) reply.header('content-length', '0')
  return reply.send()
}

/** Returns the keys of the query that the operation does not have. They are ignored (contract 1.7). */
function unknownIn({ query }: Operation, request: FastifyRequest): string[] {
  const given = Object.keys(request.query as object)
  return given.length === 0
    ? given
    : given.filter((key) => !Object.hasOwn(query?.properties ?? {}, key.replace(/\[\]$/, '')))
}

/** Returns the scope that a call needs: for read-only operations the read scope, if there is one. */
function scopeFor({ scope, right }: Operation): Exclude<Scope, 'all'> | null {
  return scope !== null && right?.endsWith('.read') ? readingOf(scope) : scope
}

function readingOf(scope: Exclude<Scope, 'all'>): Exclude<Scope, 'all'> {
  return KEY_SCOPES.find((one): one is Exclude<Scope, 'all'> => one === `${scope}.read`) ?? scope
}

function rightsFor({ right, alsoRight }: Operation): string[] {
  return [right, alsoRight].filter((one) => one !== null && one !== undefined)
}

/** Returns v3's names of the permissions in these scopes, without duplicates, in the order of the table. */
function rightsOf(scopes: readonly Scope[]): string[] {
  const allowed = OPERATIONS.filter((operation) => {
    const scope = scopeFor(operation)
    return scope === null || allows(scopes, scope)
  })
  return [...new Set(allowed.flatMap(rightsFor))]
}

function scopeOf(right: string): Exclude<Scope, 'all'> | undefined {
  return OPERATIONS.find((operation) => rightsFor(operation).includes(right))?.scope ?? undefined
}

/** Returns v3's names of the changes that a scope permits and these permissions lack, one name for each. */
function lackingOf(scope: Exclude<Scope, 'all'>, rights: readonly string[]): string[] {
  const lacking = OPERATIONS.flatMap((operation) => {
    const { right, status } = operation
    // An operation that refuses every call changes nothing.
    if (operation.scope !== scope || right === null || right.endsWith('.read') || status === 400) return []
    return rightsFor(operation).some((one) => rights.includes(one)) ? [] : [right]
  })
  return [...new Set(lacking)]
}
