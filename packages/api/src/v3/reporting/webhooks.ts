import { defined, MAX_WEBHOOKS, ServiceError, type Webhook, type WebhookSettings } from '@postrider/core'
import Type, { type Static } from 'typebox'
import { type Call, type Operation, operation } from '../operation.ts'
import { notFound, refuse } from '../refusal.ts'
import { EVERY, eventsOf, FLAGS, flagsOf, keyOf, NONE, namesOf, shown } from './webhook-flags.ts'

/** Clients send back the values they received, including null. */
const TextOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 2048 })
const OAUTH = ['oauth_client_id', 'oauth_client_secret', 'oauth_token_url'] as const
const Url = Type.String({ minLength: 1, maxLength: 2048 })
const Change = Type.Object({
  enabled: Type.Optional(Type.Boolean()),
  url: Type.Optional(Url),
  friendly_name: Type.Optional(TextOrNull),
  ...flagsOf(() => Type.Optional(Type.Boolean())),
  oauth_client_id: Type.Optional(TextOrNull),
  oauth_client_secret: Type.Optional(TextOrNull),
  oauth_token_url: Type.Optional(TextOrNull),
})
const New = Type.Object({ ...Change.properties, url: Url })
const Signing = Type.Object({ enabled: Type.Boolean() })
const OfWebhook = Type.Object({ id: Type.String({ pattern: '^[1-9][0-9]{0,8}$' }) })

const ALL = '/user/webhooks/event/settings'
const ONE = `${ALL}/:id`
const SIGNED = `${ALL}/signed`
const SIGNED_ONE = `${SIGNED}/:id`
const OF_THE_OLDEST = { none: 'the same for the oldest webhook, which commands name by its id' }
const RIGHT = 'user.webhooks.event.settings'
const common = { scope: 'webhooks', section: '7.1' } as const
const reading = { ...common, method: 'GET', right: `${RIGHT}.read`, status: 200 } as const
const changing = { ...common, method: 'PATCH', right: `${RIGHT}.update`, status: 200 } as const

/**
 * Webhooks with the v3 event format (contract 7.1, 9). Without an id, calls apply to the oldest webhook, as when an account could
 * have only one. The URL is not probed before it is saved.
 */
export const WEBHOOKS: readonly Operation[] = [
  operation({
    name: 'createWebhook',
    summary: 'Create a webhook for new events',
    cli: 'webhook create',
    ...common,
    method: 'POST',
    path: ALL,
    right: `${RIGHT}.create`,
    status: 201,
    body: New,
    act: async ({ body }, call) => shown(await create(body, call)),
  }),
  operation({
    name: 'listWebhooks',
    summary: 'List the webhooks and their maximum number',
    cli: 'webhook list',
    ...reading,
    path: `${ALL}/all`,
    act: async (_input, call) => ({ max_allowed: MAX_WEBHOOKS, webhooks: (await list(call)).map(shown) }),
  }),
  operation({
    name: 'viewOldestWebhook',
    summary: 'Show the oldest webhook, or the defaults if there is none',
    cli: OF_THE_OLDEST,
    ...reading,
    path: ALL,
    act: async (_input, call) => {
      const [oldest] = await list(call)
      return oldest ? shown(oldest) : NONE
    },
  }),
  operation({
    name: 'editOldestWebhook',
    summary: 'Change the oldest webhook, or create the first one',
    cli: OF_THE_OLDEST,
    ...changing,
    path: ALL,
    body: Change,
    act: async ({ body }, call) => {
      const [oldest] = await list(call)
      if (oldest) return shown(await change(oldest, body, call))
      const { url } = body
      if (url === undefined) throw refuse(400, 'url is required.', 'url')
      return shown(await create({ ...body, url }, call))
    },
  }),
  operation({
    name: 'viewWebhook',
    summary: 'Show a webhook',
    cli: 'webhook show',
    ...reading,
    path: ONE,
    params: OfWebhook,
    act: async ({ params }, call) => shown(await find(call, params.id)),
  }),
  operation({
    name: 'editWebhook',
    summary: 'Change a webhook. Omitted fields are unchanged',
    cli: 'webhook update',
    ...changing,
    path: ONE,
    params: OfWebhook,
    body: Change,
    act: async ({ params, body }, call) => shown(await change(await find(call, params.id), body, call)),
  }),
  operation({
    name: 'deleteWebhook',
    summary: 'Delete a webhook',
    cli: 'webhook delete',
    ...common,
    method: 'DELETE',
    path: ONE,
    right: `${RIGHT}.delete`,
    status: 204,
    params: OfWebhook,
    act: async ({ params }, call) => {
      const { id } = await find(call, params.id)
      await call.core.webhooks.remove({ accountId: call.principal.account.id, id, by: call.by })
    },
  }),
  operation({
    name: 'viewOldestWebhookSigning',
    summary: 'Show the public key that verifies the requests of the oldest webhook',
    cli: OF_THE_OLDEST,
    ...reading,
    path: SIGNED,
    act: async (_input, call) => keyOf(await find(call)),
  }),
  operation({
    name: 'signOldestWebhook',
    summary: 'Turn request signing of the oldest webhook on or off',
    cli: OF_THE_OLDEST,
    ...changing,
    path: SIGNED,
    body: Signing,
    act: async ({ body }, call) => keyOf(await sign(await find(call), body.enabled, call)),
  }),
  operation({
    name: 'viewWebhookSigning',
    summary: 'Show the public key that verifies the requests of a webhook; empty if they are not signed',
    cli: 'webhook show',
    ...reading,
    path: SIGNED_ONE,
    params: OfWebhook,
    act: async ({ params }, call) => keyOf(await find(call, params.id)),
  }),
  operation({
    name: 'signWebhook',
    summary: 'Turn request signing of a webhook on or off',
    cli: 'webhook update',
    ...changing,
    path: SIGNED_ONE,
    params: OfWebhook,
    body: Signing,
    act: async ({ params, body }, call) => keyOf(await sign(await find(call, params.id), body.enabled, call)),
  }),
  operation({
    name: 'testWebhook',
    summary: 'Send a sample of each event to a URL',
    cli: 'webhook test',
    ...common,
    method: 'POST',
    path: '/user/webhooks/event/test',
    right: 'user.webhooks.event.test.create',
    status: 204,
    body: Type.Object({ ...New.properties, id: Type.Optional(TextOrNull) }),
    act: async ({ body }, call) => {
      requireNoOAuth(body)
      const webhook = body.id ? await find(call, body.id) : (await list(call))[0]
      const probe = call.core.webhooks.tryUrl(call.principal.account.id, body.url, webhook?.id)
      const { status, problem } = await probe.catch(aboutUrl)
      // Its response status does not matter.
      if (status === null) throw refuse(400, `URL check failed: ${problem}`, 'url')
    },
  }),
]

type Change = Static<typeof Change>

function requireNoOAuth(given: Change): void {
  const field = OAUTH.find((name) => given[name])
  // Accepting the request without OAuth would send events without the expected authorization.
  if (field) throw refuse(400, 'OAuth is not available; requests can be signed instead.', field)
}

/** Webhooks of the v3 format, oldest first; those of v2 belong to the other API. */
async function list({ core, principal }: Call): Promise<Webhook[]> {
  return (await core.webhooks.list(principal.account.id)).filter(({ format }) => format === 'v3')
}

/** Returns the webhook, or the oldest one if there is no id. Throws V3Refusal 404. */
async function find(call: Call, id?: string): Promise<Webhook> {
  const found = (await list(call)).find((webhook) => id === undefined || String(webhook.id) === id)
  if (!found) throw notFound()
  return found
}

async function create(given: Change & { readonly url: string }, call: Call): Promise<Webhook> {
  const { core, principal, by } = call
  const settings: WebhookSettings = {
    url: given.url,
    format: 'v3',
    asText: false,
    abuse: false,
    eventIds: true,
    headers: {},
    enabled: true,
    label: '',
    signed: false,
    ...eventsOf(new Set()),
    ...settingsOf(given),
  }
  const made = core.webhooks.create(principal.account.id, settings, by, { ask: false })
  return (await made.catch(aboutUrl)).webhook
}

async function change(webhook: Webhook, given: Change, { core, by }: Call): Promise<Webhook> {
  const { id, accountId } = webhook
  const wanted = settingsOf(given, namesOf(webhook))
  return core.webhooks.update({ accountId, id, by }, wanted, { ask: false }).catch(aboutUrl)
}

async function sign({ id, accountId }: Webhook, signed: boolean, { core, by }: Call): Promise<Webhook> {
  return core.webhooks.update({ accountId, id, by }, { signed }, { ask: false })
}

/** Returns the given settings, with all event flags as soon as one is given. */
function settingsOf(given: Change, before: ReadonlySet<string> = new Set()): Partial<WebhookSettings> {
  requireNoOAuth(given)
  const { url, enabled, friendly_name: label } = given
  const names = new Set(before)
  for (const flag of EVERY) {
    if (given[flag] === true) names.add(FLAGS[flag])
    if (given[flag] === false) names.delete(FLAGS[flag])
  }
  return {
    ...defined({ url, enabled }),
    ...(label === undefined ? {} : { label: label ?? '' }),
    ...(EVERY.some((flag) => given[flag] !== undefined) ? eventsOf(names) : {}),
  }
}

/** Reports core's error about a URL with v3's field name. */
function aboutUrl(error: unknown): never {
  const wrong = error instanceof ServiceError && error.errorName === 'webhookUrlInvalid'
  throw wrong ? refuse(400, error.message, 'url') : error
}
