import { DELIVERY_CLASSES, NORMAL } from '../accounts/mail-class.ts'
import { lifetimeOf } from '../delivery/outcomes/schedule.ts'
import type { AnySql } from '../platform/database/database.ts'
import { appliesDespiteBypass, type Fragment } from '../suppressions/bypass.ts'
import { entryOf } from '../suppressions/forgotten.ts'
import { queueColumnsOf } from './queue-columns.ts'
import type { StoredMessage } from './stored-message.ts'

/**
 * Bytes of recipients' data above which they are sent as bytes. In an array of texts, a quote of an attribute is four bytes, of which
 * the driver has several copies: 9 MB of quotes took 270 MB.
 */
const LARGE_DATA = 1024 * 1024

interface DataParts extends Readonly<Record<'recursive' | 'places' | 'names' | 'value', ReturnType<AnySql>>> {
  readonly column: readonly (string | null)[]
  /** Texts that follow the bodies. */
  readonly texts: (string | null)[]
}

/**
 * Additional parts of the accept statement if the recipients' data is large: it follows the bodies in the last parameter, at `start`.
 * `texts` is the JSON of each delivery, and `column` what remains as an array.
 */
export function dataParts(sql: AnySql, texts: (string | null)[], start: number): DataParts {
  if (texts.reduce((sum, text) => sum + (text?.length ?? 0), 0) <= LARGE_DATA) {
    return { recursive: sql``, column: texts, texts: [], places: sql``, names: sql``, value: sql`personal::jsonb` }
  }
  const lengths = texts.map((text) => Buffer.byteLength(text ?? ''))
  const starts = lengths.map((length) => {
    start += length
    return start - length
  })
  return {
    // So that a part may refer to one behind it; none refers to itself.
    recursive: sql` recursive`,
    column: texts.map(() => null),
    texts,
    places: sql`, ${starts}::int[], ${lengths}::int[]`,
    names: sql`, data_start, data_length`,
    // Without data the slice is empty.
    value: sql`nullif(convert_from(substring((select octets from whole) from data_start for data_length), 'UTF8'), '')::jsonb`,
  }
}

/**
 * The bytes of bodies and of large data, as `whole`. Must be the last parameter: the driver sends only that one as bytes, others as
 * hexadecimal text (docs/decisions/0007). The texts are removed from the list, because a wide letter makes them twice as long as their
 * bytes, and they would be kept until the statement has been answered.
 */
export function octetsParts(sql: AnySql, bodies: readonly Buffer[], texts: (string | null)[]) {
  if (texts.length === 0) {
    return { from: sql`(select ${bodies as Buffer[]}::bytea) as whole(octets)`, part: sql`` }
  }
  const length = bodies.reduce((sum, body) => sum + body.length, 0)
  const octets = Buffer.allocUnsafeSlow(texts.reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), length))
  let at = 0
  for (const body of bodies) at += body.copy(octets, at)
  for (const text of texts.splice(0)) at += octets.write(text ?? '', at)
  // Materialized, it would be copied to a temporary file.
  return { from: sql`whole`, part: sql`, whole as not materialized (select ${octets}::bytea as octets)` }
}

/** Additional parts of the accept statement if a message of the group bypasses suppression lists. */
export function bypassParts(sql: AnySql, messages: readonly StoredMessage[]) {
  const own = messages.flatMap(({ id, settings }) => {
    const { bypass } = queueColumnsOf(settings)
    return bypass === null ? [] : [{ id, list: bypass.join() }]
  })
  if (own.length === 0) return { join: sql``, columns: sql``, name: sql``, list: undefined }
  return {
    // As text, because arrays of arrays must be rectangular.
    join: sql`
        left join unnest(${own.map(({ id }) => id)}::uuid[], ${own.map(({ list }) => list)}::text[])
               as passing(message_id, list) on passing.message_id = d.message_id`,
    columns: sql`, string_to_array(passing.list, ',') as bypass`,
    name: sql`, bypass`,
    list: sql`string_to_array(passing.list, ',')`,
  }
}

/** Additional parts of the accept statement if a message of the group cannot be sent at all. */
export function refusalParts(sql: AnySql, messages: readonly StoredMessage[]) {
  const own = messages.filter(({ refusal }) => refusal !== undefined)
  if (own.length === 0) return { join: sql``, refusal: sql``, columns: sql``, detail: sql`` }
  return {
    join: sql`
        left join unnest(${own.map(({ id }) => id)}::uuid[], ${own.map(({ refusal }) => refusal ?? '')}::text[],
                         ${own.map(({ refusalProblem }) => refusalProblem ?? null)}::text[])
               as unusable(message_id, reason, problem) on unusable.message_id = d.message_id`,
    refusal: sql`, unusable.reason`,
    columns: sql`, unusable.reason as unusable, unusable.problem`,
    // If the recipient is also suppressed, the suppression is the reason, and there is no problem to report.
    detail: sql`
               || case when refusal = unusable and problem is not null then jsonb_build_object('problem', problem) else '{}' end`,
  }
}

/** Additional parts of the statement if an account has opt-outs stored as hashes. */
export function hashedOptOuts(sql: AnySql, hashes: (string | null)[] | undefined, bypass: Fragment | undefined) {
  if (!hashes) return { column: sql``, name: sql``, join: sql``, reason: sql`` }
  return {
    column: sql`, ${hashes}::text[]`,
    name: sql`, hash`,
    join: sql`
        left join lateral (
          select f.reason from forgotten f
           where f.account_id = d.account_id and f.hash = decode(d.hash, 'hex')
             and f.group_id = any(array[0, d.group_id]) and (f.held_until is null or f.held_until > service_now())
             ${bypass ? sql`and ${appliesDespiteBypass(sql, bypass, entryOf(sql))}` : sql``}
           limit 1) opted_out on true`,
    reason: sql`, opted_out.reason`,
  }
}

/** Additional parts of the accept statement if a message of the group has a class other than normal, or its own deadline. */
export function urgencyParts(sql: AnySql, messages: readonly StoredMessage[]) {
  const own = messages.filter(({ class: of, settings, lowered }) => of !== NORMAL || settings.deadline || lowered)
  const usual = lifetimeOf({})
  if (own.length === 0) {
    const lifetime = sql`make_interval(secs => ${usual}::int)`
    return { join: sql``, columns: sql``, name: sql``, value: sql``, lifetime, detail: sql`` }
  }
  return {
    join: sql`
        left join unnest(${own.map(({ id }) => id)}::uuid[], ${own.map((message) => message.class)}::int[],
                         ${own.map(({ settings }) => queueColumnsOf(settings).lifetime)}::int[],
                         ${own.map(({ lowered }) => String(lowered === true))}::text[]::boolean[])
               as urgency(message_id, class, lifetime, lowered) on urgency.message_id = checked.message_id`,
    columns: sql`, urgency.class, urgency.lifetime, urgency.lowered`,
    name: sql`, class`,
    value: sql`, coalesce(class, ${NORMAL}::int)`,
    lifetime: sql`make_interval(secs => coalesce(lifetime, ${usual}::int))`,
    detail: sql`
               when refusal is null and lowered then jsonb_build_object('class', ${DELIVERY_CLASSES[NORMAL]}::text)`,
  }
}

/** Additional parts of the statement if a body of the group is in object storage. */
export function objectParts(sql: AnySql, lengths: readonly (number | null)[]) {
  if (lengths.every((length) => length === null)) return { column: sql``, value: sql``, array: sql``, name: sql`` }
  return {
    column: sql`, object_length`,
    value: sql`, b.object_length`,
    array: sql`, ${[...lengths]}::int[]`,
    name: sql`, object_length`,
  }
}

/** Additional parts of the statement if an envelope has its own scheduled time. */
export function ownSchedules(sql: AnySql, batch: readonly StoredMessage[]) {
  const times = batch.flatMap(({ deliveries }) => deliveries.map(({ personal }) => personal?.scheduledAt ?? null))
  if (times.every((time) => time === null)) return { column: sql``, name: sql``, at: sql`stored.scheduled_at` }
  return {
    column: sql`, ${times}::timestamptz[]`,
    name: sql`, own_time`,
    at: sql`coalesce(checked.own_time, stored.scheduled_at)`,
  }
}

/** An additional part of the accept statement if the content of a message of the group is not kept (retention/remove-contents.ts). */
export function unkeptParts(sql: AnySql, messages: readonly StoredMessage[]) {
  const own = messages.filter(({ settings }) => settings.keepContent === false)
  if (own.length === 0) return sql``
  return sql`, unkept as (
      insert into unkept_contents (message_id, account_id)
      select id, account_id from message
       where id = any(${own.map(({ id }) => id)}::uuid[]) and id in (select id from stored)
    )`
}
