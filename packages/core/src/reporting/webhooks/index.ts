import { randomUUID } from 'node:crypto'
import { type Actor, type AuditValues, noteChange, OPERATOR } from '../../accounts/audit/index.ts'
import type { Event } from '../../events/event.ts'
import { WEBHOOK_EVENTS } from '../../events/event-types.ts'
import type { Sql, SqlTransaction } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { OutboundHttp } from '../../platform/outbound-http.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { lastNumber, readEvents } from '../events/read.ts'
import { type ClaimedBatch, claimBatches, noticeEvents } from './claim.ts'
import { type Finished, finishBatch, releaseBatch } from './finish.ts'
import { eventName, nameOf } from './names.ts'
import { cleanHeaders, cleanUrl, notedUrl } from './rules.ts'
import { sampleEvents } from './samples.ts'
import { post, probe, type Target, type WebhookResponse, writeBody } from './send.ts'
import { makeSecret, makeSigningKey, secretText } from './signature.ts'
import * as store from './store.ts'
import type { DeadBatch, Webhook, WebhookDelivery, WebhookKeys, WebhookSettings } from './webhook.ts'

export type { ClaimedBatch } from './claim.ts'
export type { Finished } from './finish.ts'
export { eventsNamed, namesOf } from './names.ts'
export { shownHeaders } from './rules.ts'
export type { WebhookResponse as Told } from './send.ts'
export {
  type DeadBatch,
  WEBHOOK_FORMATS,
  type Webhook,
  type WebhookDelivery,
  type WebhookSettings,
} from './webhook.ts'

export const MAX_WEBHOOKS = 10
const OVERLAP_HOURS = 24
const REPLAY_DAYS = 30
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** Maximum number of concurrent probes and tests per process. */
const MAX_PROBES = 32

export interface WebhookAct {
  readonly accountId: number
  readonly id: number
  readonly by?: Actor
}

/** Whether the URL is probed before the webhook is saved; default true. */
export interface ProbeOptions {
  readonly ask?: boolean
}

/** URLs to which events of accounts are reported. All methods with an id throw webhookUnknown. */
export interface Webhooks {
  /**
   * Creates a webhook. If it is enabled, its URL is probed first. Throws webhookUrlInvalid, webhookUnanswered, webhooksTooMany or
   * parameterInvalid (headers).
   */
  create(
    accountId: number,
    settings: WebhookSettings,
    by?: Actor,
    asking?: ProbeOptions,
  ): Promise<{ webhook: Webhook; secret: string }>
  list(accountId: number): Promise<Webhook[]>
  show(accountId: number, id: number): Promise<Webhook>
  /**
   * Changes a webhook; omitted settings are unchanged. The URL is probed as by `create` if URL, format or headers change or the
   * webhook is enabled.
   */
  update(act: WebhookAct, change: Partial<WebhookSettings>, asking?: ProbeOptions): Promise<Webhook>
  remove(act: WebhookAct): Promise<void>
  /** Sends a sample of each of its events and returns the receiver's response. */
  test(accountId: number, id: number): Promise<WebhookResponse & { readonly events: number }>
  /**
   * Sends a sample of every event to any URL, as the webhook with this id would, or without an id as an unsigned v3 webhook.
   * Throws webhookUrlInvalid or overloaded.
   */
  tryUrl(accountId: number, url: string, id?: number): Promise<WebhookResponse>
  /** Creates and returns a new secret. The old one also signs during the grace period, by default 24 hours. */
  rotateSecret(act: WebhookAct, overlapHours?: number): Promise<string>
  /** Returns the latest requests, newest first. */
  deliveries(accountId: number, id: number, limit: number): Promise<WebhookDelivery[]>
  /** Returns dead-lettered batches, latest first. */
  dead(
    accountId: number,
    id: number,
    page: { limit: number; offset: number },
  ): Promise<{ batches: DeadBatch[]; total: number }>
  /** Retries one dead-lettered batch, or all, and returns their number. Throws webhookFailureUnknown. */
  redeliver(act: WebhookAct, batchId?: string): Promise<number>
  /**
   * Resumes at the event with this number, even if it was reported already. Throws webhookReplayInvalid if the event does not
   * exist or is older than 30 days.
   */
  replay(act: WebhookAct, from: number): Promise<void>
  /** Makes webhooks due whose accounts have new events. To be called after new events, and regularly. */
  notice(): Promise<number>
  /** Claims batches of one webhook; undefined if no webhook is due. See claim.ts. */
  claim(slots: number): Promise<ClaimedBatch[] | undefined>
  /** Sends a batch and records the response. If aborted, the batch is released. */
  deliver(batch: ClaimedBatch, signal: AbortSignal): Promise<Finished>
}

export interface WebhooksDependencies {
  readonly sql: Sql
  readonly secrets: Secrets
  readonly http: OutboundHttp
}

export function createWebhooks({ sql, secrets, http }: WebhooksDependencies): Webhooks {
  let probing = 0

  const seal = (accountId: number, plain: Buffer | string) => secrets.seal(Buffer.from(plain), `webhook ${accountId}`)
  const open = (accountId: number, box: Buffer) => secrets.open(box, `webhook ${accountId}`)
  const opened = ({ headers, ...row }: store.Row): Webhook => ({
    ...row,
    headers: JSON.parse(open(row.accountId, headers).toString()) as Record<string, string>,
  })

  async function keysOf({ id, accountId }: Webhook): Promise<WebhookKeys | undefined> {
    const sealed = await store.selectKeys(sql, id)
    if (!sealed) return undefined
    const all = [sealed.secret, ...(sealed.formerSecret ? [sealed.formerSecret] : [])]
    return { secrets: all.map((box) => open(accountId, box)), signingKey: open(accountId, sealed.signingKey) }
  }

  async function show(accountId: number, id: number): Promise<Webhook> {
    const row = await store.selectWebhook(sql, accountId, id)
    if (!row) throw new ServiceError('webhookUnknown')
    return opened(row)
  }

  /** Sends a request for which a client waits. Their number is limited. Throws overloaded. */
  async function limited<T>(fn: () => Promise<T>): Promise<T> {
    if (probing >= MAX_PROBES) throw new ServiceError('overloaded', { reason: 'too many webhook probes' })
    probing++
    return fn().finally(() => probing--)
  }

  async function requireResponse(target: Target): Promise<void> {
    const problem = await limited(() => probe(http, target, `probe_${randomUUID().replaceAll('-', '')}`))
    if (problem !== undefined) throw new ServiceError('webhookUnanswered', { values: { problem }, reason: problem })
  }

  async function change<T>(
    { accountId, id, by = OPERATOR }: WebhookAct,
    what: string,
    fn: (
      sql: SqlTransaction,
      webhook: Webhook,
    ) => Promise<{ result: T; before?: AuditValues; after?: AuditValues } | undefined>,
  ): Promise<T | undefined> {
    return sql
      .begin(async (transaction) => {
        const row = await store.lockWebhook(transaction, accountId, id)
        if (!row) throw new ServiceError('webhookUnknown')
        const done = await fn(transaction, opened(row))
        if (!done) return undefined
        const { before, after } = done
        await noteChange(transaction, {
          ...{ accountId, by, action: `webhook.${what}`, object: `webhook ${id}` },
          ...{ ...(before ? { before } : {}), ...(after ? { after } : {}) },
        })
        return done
      })
      .then((done) => done?.result as T | undefined)
  }

  function checked(settings: WebhookSettings, before?: Webhook): WebhookSettings {
    const events = settings.events.filter((type) => eventName(type, settings.format) !== null)
    // A webhook with a list of event names may have an empty list.
    if (events.length === 0 && settings.names === null)
      throw new ServiceError('webhookEventInvalid', { values: { event: '' } })
    return {
      ...settings,
      ...{ events, url: cleanUrl(http, settings.url), headers: cleanHeaders(settings.headers, before?.headers) },
    }
  }

  return {
    show,
    async create(accountId, settings, by = OPERATOR, { ask = true } = {}) {
      const wanted = checked(settings)
      const [secret, { privateKey, publicKey }] = [makeSecret(), makeSigningKey()]
      const own = await store.selectWebhooks(sql, accountId)
      if (own.length >= MAX_WEBHOOKS) throw new ServiceError('webhooksTooMany', { values: { limit: MAX_WEBHOOKS } })
      if (wanted.enabled && ask) await requireResponse({ ...wanted, secrets: [secret], signingKey: privateKey })
      const row = (await sql.begin(async (transaction) => {
        if ((await store.countLocked(transaction, accountId)) >= MAX_WEBHOOKS)
          throw new ServiceError('webhooksTooMany', { values: { limit: MAX_WEBHOOKS } })
        const made = await store.insertWebhook(transaction, {
          ...{ ...wanted, accountId, headers: seal(accountId, JSON.stringify(wanted.headers)) },
          ...{ secret: seal(accountId, secret), signingKey: seal(accountId, privateKey), publicKey },
        })
        const object = `webhook ${made.id}`
        await noteChange(transaction, { accountId, by, action: 'webhook.create', object, after: noted(wanted) })
        return made
      })) as store.Row
      return { webhook: opened(row), secret: secretText(secret) }
    },
    list: async (accountId) => (await store.selectWebhooks(sql, accountId)).map(opened),
    async update(act, given, { ask = true } = {}) {
      const before = await show(act.accountId, act.id)
      const wanted = checked(changed(before, given), before)
      const isNewTarget =
        wanted.url !== before.url || wanted.format !== before.format || !isSame(wanted.headers, before.headers)
      if (ask && wanted.enabled && (isNewTarget || !before.enabled)) {
        const keys = await keysOf(before)
        if (keys) await requireResponse({ ...wanted, ...keys })
      }
      const after = await change(act, 'edit', async (transaction, current) => {
        // Another request may have changed other settings meanwhile; these are kept.
        const merged = checked(changed(current, given), current)
        const revived = merged.enabled && (!current.enabled || isNewTarget)
        const headers = seal(act.accountId, JSON.stringify(merged.headers))
        const row = await store.updateWebhook(transaction, act.id, { ...merged, headers, revived })
        return { result: row, before: noted(current), after: noted(merged) }
      })
      return opened(after as store.Row)
    },
    async remove(act) {
      await change(act, 'remove', async (transaction, webhook) => {
        await store.deleteWebhook(transaction, webhook.id)
        return { result: undefined, before: noted(webhook) }
      })
    },
    async test(accountId, id) {
      const webhook = await show(accountId, id)
      const keys = await keysOf(webhook)
      if (!keys) throw new ServiceError('webhookUnknown')
      const target = { ...webhook, ...keys }
      const events = sampleEvents(webhook.events, new Date())
      const response = await limited(() =>
        post(http, target, { id: `test_${randomUUID().replaceAll('-', '')}`, body: writeBody(target, events) }),
      )
      return { ...response, events: events.length }
    },
    async tryUrl(accountId, url, id) {
      const webhook = id === undefined ? undefined : await show(accountId, id)
      const keys = webhook && (await keysOf(webhook))
      const target = { ...UNSIGNED, ...webhook, ...keys, url: cleanUrl(http, url) }
      const body = writeBody(target, sampleEvents(WEBHOOK_EVENTS, new Date()))
      return limited(() => post(http, target, { id: `test_${randomUUID().replaceAll('-', '')}`, body }))
    },
    async rotateSecret(act, overlapHours = OVERLAP_HOURS) {
      const secret = makeSecret()
      await change(act, 'rotate', async (transaction) => {
        await store.replaceSecret(transaction, act.id, seal(act.accountId, secret), overlapHours)
        return { result: undefined, after: { overlapHours } }
      })
      return secretText(secret)
    },
    async deliveries(accountId, id, limit) {
      await show(accountId, id)
      return store.selectDeliveries(sql, id, limit)
    },
    async dead(accountId, id, page) {
      await show(accountId, id)
      return store.selectDead(sql, id, page)
    },
    async redeliver(act, batchId) {
      const count = await change(act, 'redeliver', async (transaction) => {
        const named = batchId === undefined || UUID.test(batchId)
        const revived = named ? await store.reviveDead(transaction, act.id, batchId) : 0
        if (revived === 0 && batchId !== undefined) throw new ServiceError('webhookFailureUnknown')
        return revived === 0 ? undefined : { result: revived, after: { batches: revived } }
      })
      return count ?? 0
    },
    async replay(act, from) {
      await change(act, 'replay', async (transaction, { accountId, position }) => {
        const event = await eventAt(transaction, accountId, from)
        const next = (await lastNumber(transaction, accountId)) + 1
        if (from !== next && !event) throw new ServiceError('webhookReplayInvalid', { values: { days: REPLAY_DAYS } })
        await store.movePosition(transaction, act.id, from - 1)
        return { result: undefined, before: { position }, after: { position: from - 1 } }
      })
    },
    notice: () => noticeEvents(sql),
    claim: (slots) => claimBatches(sql, slots),
    async deliver(batch, signal) {
      const row = await store.selectWebhook(sql, batch.accountId, batch.webhookId)
      const webhook = row && opened(row)
      const keys = webhook && (await keysOf(webhook))
      if (!webhook || !keys) return 'late'
      const events = (batch.events ?? (await readBatch(batch))).filter((event) => isWanted(webhook, event))
      if (events.length === 0) return finishBatch(sql, batch, { status: null, milliseconds: 0 })
      const target = { ...webhook, ...keys }
      const body = writeBody(target, events)
      // No event has a name in this format. An empty batch would look like a probe.
      if (body === '[]') return finishBatch(sql, batch, { status: null, milliseconds: 0 })
      const id = `msg_${batch.id.replaceAll('-', '')}`
      const response = await post(http, target, { id, body, signal })
      if (signal.aborted && response.status === null) {
        await releaseBatch(sql, batch)
        return 'late'
      }
      return finishBatch(sql, batch, response)
    },
  }

  async function readBatch({ accountId, after, to, types }: ClaimedBatch) {
    const events = []
    for (let reached = after; reached < to; ) {
      const page = await readEvents(sql, { accountId, after: reached, limit: 100, types })
      events.push(...page.events.filter(({ number }) => number <= to))
      if (page.next === reached) break
      reached = page.next
    }
    return events
  }
}

/** Returns the event with this number; undefined if it does not exist or is too old. */
async function eventAt(sql: SqlTransaction, accountId: number, number: number) {
  const { events } = await readEvents(sql, { accountId, after: number - 1, limit: 1 })
  const event = events.find((found) => found.number === number)
  if (!event) return undefined
  const [kept] = await sql`
    select 1 where ${event.occurredAt}::timestamptz > service_now() - make_interval(days => ${REPLAY_DAYS})`
  return kept && event
}

/** Applies a change of settings. A change of format resets the event names, because they differ by format. */
function changed(before: Webhook, given: Partial<WebhookSettings>): WebhookSettings {
  const newFormat = given.format !== undefined && given.format !== before.format
  return { ...before, ...(newFormat ? { names: null } : {}), ...given }
}

const UNSIGNED: Target = {
  ...{ url: '', format: 'v3', asText: false, abuse: false, eventIds: true, headers: {}, signed: false },
  // Throwaway keys: these requests belong to no webhook.
  ...{ secrets: [makeSecret()], signingKey: Buffer.alloc(0) },
}

function isWanted({ names, format }: WebhookSettings, event: Event): boolean {
  if (names === null) return true
  const name = nameOf(event, format)
  return name !== null && names.includes(name)
}

function isSame(one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean {
  return JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort())
}

/** Returns settings for the audit log. Only the names of headers are included, because values may be secrets. */
function noted({ url, events, names, format, enabled, headers, label, signed }: WebhookSettings): AuditValues {
  const optional = { ...(names ? { names: [...names] } : {}), ...(label === '' ? {} : { label }), signed }
  return { url: notedUrl(url), events: [...events], ...optional, format, enabled, headers: Object.keys(headers) }
}
