import { type DeliveryClass, NORMAL } from '../../accounts/mail-class.ts'
import { insertEvents } from '../../events/insert-events.ts'
import type { AnySql } from '../../platform/database/database.ts'
import { storableInteger, storableJson, storableText } from '../../platform/database/storable.ts'
import type { Log } from '../../platform/process/log.ts'
import type { DeliveryKey } from '../queue/queue.ts'
import { WOKEN } from '../queue/wake-unreached.ts'
import { smartHostOf } from '../sources/smart-hosts.ts'
import { BLOCKED_CLASSES, type BounceClass, bounceClass } from './bounce-rules.ts'
import { finishDeliveries } from './finish-deliveries.ts'
import { SUPPRESSED, suppressHardBounces } from './hard-bounces.ts'
import { type Bounced, type Deferred, type Outcome, SESSION_STAGES, type Stage } from './outcome.ts'
import { INDETERMINATE_WAIT_SECONDS, retryDelay } from './schedule.ts'
import { isSoftBounce, suppressRepeatedSoftBounces } from './soft-bounces.ts'

/** Stages in which a host says nothing of mail that it is offered. */
const WITHOUT_OFFER: Stage[] = [...SESSION_STAGES, 'rset']
/** Stages in which the hosts of a site are away or refuse sessions. */
const UNREACHED: Stage[] = ['connect', 'greeting', 'ehlo']

export interface Result extends DeliveryKey {
  readonly workerId: number
  readonly outcome: Outcome
  /** Where it was offered; undefined if it was not. */
  readonly place?: string | undefined
  /** The site that was not asked, since its hosts were away or refused sessions just before. */
  readonly unreached?: string | undefined
  /** Normal if undefined. */
  readonly class?: DeliveryClass
}

/**
 * Records many outcomes in one statement, so that attempt, state, due time and event of each change together. A result whose
 * attempt number or lease is stale is rejected. Returns which results were recorded; a repeated result is recorded once.
 */
export async function recordOutcomes(
  sql: AnySql,
  results: readonly Result[],
  { hardBounceDays, log }: { readonly hardBounceDays: number; readonly log: Log },
): Promise<boolean[]> {
  const column = columnsOf(results)
  // Few batches contain a hard bounce; only those get the longer statement.
  const suppressed = results.some(suppressesRecipient) ? hardBounces(sql, hardBounceDays) : sql``
  const rows = await sql<{ at: number }[]>`
with result as materialized (
      select *
        from unnest(${column.messageId}::uuid[], ${column.recipientNo}::int[], ${column.attempt}::int[],
                    ${column.workerId}::int[], ${column.kind}::text[], ${column.reason}::text[], ${column.delay}::int[],
                    ${column.indeterminate}::text[]::boolean[], ${column.milliseconds}::int[], ${column.stage}::text[],
                    ${column.host}::text[], ${column.address}::text[], ${column.tls}::text[], ${column.code}::int[],
                    ${column.enhanced}::text[], ${column.reply}::text[], ${column.steps}::text[], ${column.detail}::text[], ${column.place}::text[],
                    ${column.tlsPolicy}::text[], ${column.tlsOrigin}::text[], ${column.tlsVerified}::text[]::boolean[], ${column.blocked}::text[]::boolean[],
                    ${column.nextHost}::text[], ${column.unreached}::text[])
             with ordinality
             as r(message_id, recipient_no, attempt, worker_id, kind, reason, delay, indeterminate, milliseconds, stage,
                  host, address, tls, code, enhanced, reply, steps, detail, place, tls_policy, tls_origin, tls_verified, blocked,
                  next_host, unreached, at)
    ), deleted as (
      delete from delivery_queue q using result r
       where q.message_id = r.message_id and q.recipient_no = r.recipient_no and q.attempt = r.attempt
         and q.worker_id is not distinct from r.worker_id
         and (r.kind <> 'deferred' or q.expires_at <= service_now())
      returning q.account_id, q.recipient, q.recipient_key, q.recipient_domain, q.kind as list, q.reference, q.personal,
                r.*, case when r.kind = 'deferred' then 'expired' else r.kind end as state
    ), kept as (
      update delivery_queue q
         set state = 'deferred', worker_id = null, dot_at = null, dot_host = null,
             next_at = case when r.indeterminate then service_now() + make_interval(secs => r.delay)
                            else least(service_now() + make_interval(secs => r.delay), q.expires_at) end,
             next_host = r.next_host, last_place = coalesce(r.place, r.unreached, q.last_place),
             -- That another host takes mail says nothing of the only one that this may be offered to.
             unreached = case when q.only_host is null and q.unreached is distinct from ${WOKEN}
                               and r.stage = any(${UNREACHED}::text[]) and position('.' in coalesce(r.unreached, r.place)) > 0
                              then coalesce(r.unreached, r.place) end,
             -- Which host may have the message changes only with what a host says of mail that it is offered: not if it is away, closes (421)
             -- or says nothing.
             only_host = case when r.indeterminate then r.host
                              when r.code is null or r.code = 421 or r.stage = any(${WITHOUT_OFFER}::text[]) then q.only_host end
        from result r
       where q.message_id = r.message_id and q.recipient_no = r.recipient_no and q.attempt = r.attempt
         and q.worker_id is not distinct from r.worker_id
         and r.kind = 'deferred' and q.expires_at > service_now()
      returning q.account_id, q.next_at, r.*
    ), verdict as (
      select account_id, message_id, recipient_no, attempt, worker_id, kind, indeterminate, milliseconds, stage, host, address,
             tls, code, enhanced, reply, steps, detail, place, tls_policy, tls_origin, tls_verified, blocked, at, state, null::timestamptz as next_at
        from deleted
      union all
      select account_id, message_id, recipient_no, attempt, worker_id, kind, indeterminate, milliseconds, stage, host, address,
             tls, code, enhanced, reply, steps, detail, place, tls_policy, tls_origin, tls_verified, blocked, at, 'deferred', next_at
        from kept
    ), finished as (
      ${finishDeliveries(sql, {
        from: sql`deleted`,
        state: sql`state`,
        reason: sql`reason`,
        columns: { kind: sql`list`, attempt: sql`attempt - (state = 'dropped')::int` },
      })}
    ), new_attempts as (
      insert into attempts (message_id, recipient_no, attempt, account_id, worker_id, outcome, indeterminate, started_at,
             milliseconds, stage, host, address, tls, code, enhanced, reply, conversation, place, tls_policy,
             tls_origin, tls_verified, blocked)
      select message_id, recipient_no, attempt, account_id, worker_id, kind, indeterminate,
             service_now() - make_interval(secs => milliseconds / 1000.0), milliseconds, stage, host, address, tls, code,
             enhanced, reply, steps::json, place, tls_policy, tls_origin, tls_verified, blocked
        from verdict where kind <> 'dropped'
    ), new_events as (
      ${insertEvents(sql, {
        from: sql`verdict`,
        type: sql`case state when 'delivered' then 'sent' else state end`,
        detail: sql`case when state = 'deferred' then detail::jsonb || jsonb_build_object('nextAt', next_at) else detail::jsonb end`,
      })}
    )${suppressed}
    select at::int as at from verdict`
  const taken = new Set(rows.map(({ at }) => at))
  const soft = results.filter((result, at) => taken.has(at + 1) && isSoftlyBounced(result))
  // The outcomes are recorded; without this statement the next soft bounce suppresses the recipient.
  if (soft.length > 0) {
    await suppressRepeatedSoftBounces(sql, soft).catch((err: unknown) =>
      log.warn({ err, deliveries: soft.length }, 'could not apply the rule for soft bounces'),
    )
  }
  return results.map((_result, at) => taken.has(at + 1))
}

function isSoftlyBounced({ outcome }: Result): boolean {
  return outcome.kind === 'bounced' && isSoftBounce(classOf(outcome))
}

/** A receiver may say anything, and must not keep the outcome from being recorded: the message would be sent again. */
function columnsOf(results: readonly Result[]) {
  const attempted = results.map(({ outcome }) => (outcome.kind === 'dropped' ? undefined : outcome))
  return {
    messageId: results.map(({ messageId }) => messageId),
    recipientNo: results.map(({ recipientNo }) => recipientNo),
    attempt: results.map(({ attempt }) => attempt),
    workerId: results.map(({ workerId }) => workerId),
    kind: results.map(({ outcome }) => outcome.kind),
    reason: results.map(({ outcome }) => (outcome.kind === 'dropped' ? outcome.reason : null)),
    delay: results.map(delayOf),
    // As text: postgres.js takes an array of booleans for a single boolean, and sends a text typed as boolean as false.
    indeterminate: results.map(({ outcome }) => String(outcome.kind === 'deferred' && outcome.indeterminate)),
    milliseconds: attempted.map((outcome) => storableInteger(outcome?.milliseconds ?? 0)),
    stage: attempted.map((outcome) => outcome?.stage ?? null),
    host: attempted.map((outcome) => textOf(outcome?.host)),
    address: attempted.map((outcome) => outcome?.address ?? null),
    tls: attempted.map((outcome) => outcome?.tls ?? null),
    tlsPolicy: attempted.map((outcome) => outcome?.tlsPolicy ?? null),
    tlsOrigin: attempted.map((outcome) => outcome?.tlsOrigin ?? null),
    // As text, like indeterminate.
    tlsVerified: attempted.map((outcome) => (outcome?.tlsVerified === undefined ? null : String(outcome.tlsVerified))),
    blocked: attempted.map((outcome) => (outcome?.kind === 'deferred' && isBlocked(outcome) ? 'true' : null)),
    unreached: results.map(({ unreached }) => textOf(unreached)),
    nextHost: attempted.map((outcome) => (outcome?.kind === 'deferred' ? textOf(outcome.nextHost) : null)),
    code: attempted.map((outcome) => outcome?.reply.code || null),
    enhanced: attempted.map((outcome) => outcome?.reply.enhanced || null),
    reply: attempted.map((outcome) => textOf(outcome?.reply.text)),
    place: results.map(({ place }) => textOf(place)),
    steps: attempted.map((outcome) => storableJson(outcome?.steps ?? [])),
    detail: results.map((result) => storableJson(detailOf(result))),
  }
}

function textOf(text: string | undefined): string | null {
  return text === undefined ? null : storableText(text)
}

function delayOf({ outcome, attempt, class: of = NORMAL }: Result): number {
  if (outcome.kind !== 'deferred') return 0
  const delay = retryDelay(of, attempt, outcome.reply.text, Math.random())
  // The usual retry intervals apply too, so a server that never confirms receipt gets copies less and less often.
  return outcome.indeterminate ? Math.max(delay, INDETERMINATE_WAIT_SECONDS) : delay
}

/**
 * Whether the outcome adds the recipient to the suppressions: a server that had received the address permanently rejected it because
 * the mailbox does not exist (hard-bounces.ts).
 */
function suppressesRecipient({ outcome }: Result): boolean {
  if (outcome.kind !== 'bounced' || !RECIPIENT_NAMED.has(outcome.stage)) return false
  return SUPPRESSED.includes(classOf(outcome))
}

function classOf({ reply, parties, stage }: Bounced): BounceClass {
  return bounceClass(reply.enhanced, reply.text, { parties, stage })
}

const GREYLISTED = /gr[ae]y[- ]?list/i

/** Whether a filter or policy of the receiver deferred it. Greylisting is none: it defers the first mail of every sender. */
function isBlocked({ reply: { code, enhanced, text }, stage }: Deferred): boolean {
  if (code < 400 || GREYLISTED.test(text)) return false
  return BLOCKED_CLASSES.includes(bounceClass(enhanced, text, { stage }))
}

const RECIPIENT_NAMED: ReadonlySet<Stage> = new Set(['rcpt', 'data', 'dot'])

/** Part of the statement that records outcomes. */
function hardBounces(sql: AnySql, days: number) {
  const named: ReturnType<AnySql> = sql`(
    select account_id, recipient_key, message_id, recipient_no, detail::jsonb->>'class' as class from deleted
     where kind = 'bounced' and stage = any(${[...RECIPIENT_NAMED]}::text[])
                  and detail::jsonb->>'class' = any(${[...SUPPRESSED]}::text[])) named`
  return sql`, hard_bounces as (${suppressHardBounces(sql, named, { days })})`
}

/** Returns the details of the event. */
function detailOf({ outcome, attempt, place }: Result): Record<string, unknown> {
  if (outcome.kind === 'dropped') {
    const { reason, problem } = outcome
    return { reason, ...(problem === undefined ? {} : { problem }) }
  }
  const { reply, host, tls } = outcome
  const via = smartHostOf(place ?? '')
  const [, source] = (place ?? '').split('@', 2)
  return {
    attempt,
    ...(host ? { host } : {}),
    ...(source ? { source } : {}),
    ...(via === undefined ? {} : { via }),
    ...(tls ? { tls } : {}),
    ...(reply.code ? { code: reply.code } : {}),
    ...(reply.enhanced ? { enhanced: reply.enhanced } : {}),
    reply: reply.text,
    ...(reply.own ? { own: true } : {}),
    ...(outcome.kind === 'bounced' ? { class: classOf(outcome) } : {}),
    ...(outcome.kind === 'deferred' && outcome.indeterminate ? { indeterminate: true } : {}),
  }
}
