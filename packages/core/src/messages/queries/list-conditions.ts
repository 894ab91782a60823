import type { AnySql } from '../../platform/database/database.ts'
import type { MessageSearch, Met } from '../search/search.ts'

type Fragment = ReturnType<AnySql>

/** Expressions and conditions of the list, over a delivery `d` and its message `m`. */

/** The sender that the delivery shows. */
export const fromOf = (sql: AnySql): Fragment => sql`coalesce(d.personal->'from'->>'email', m.from_address)`

/** The subject of the delivery, as submitted. */
export const subjectOf = (sql: AnySql): Fragment => sql`coalesce(d.personal->>'subject', m.subject)`

/** Attachments of a composed message are parts of its body; of a MIME message it is noted when it is accepted. */
export const hasAttachment = (sql: AnySql): Fragment => sql`
  case m.format when 'content' then m.parts > 1 else m.settings ? 'attachments' end`

/** Whether the content of the message `m` stays stored after its last outcome. */
export const keepsContent = (sql: AnySql): Fragment => sql`coalesce((m.settings->>'keepContent')::boolean, true)`

/** Whether the conditions read the message. */
export function readsMessage({ from, domain, subjectBegins, door, hasAttachment, not = [] }: MessageSearch): boolean {
  return (
    [from, domain, subjectBegins, door, hasAttachment].some((value) => value !== undefined) || not.some(readsMessage)
  )
}

/** Whether there are conditions, beside words, that deliveries of the account and the time may not meet. */
export function hasConditions(search: MessageSearch): boolean {
  const { states, recipientKey, recipientDomain, messageId, not = [] } = search
  const own = [states, recipientKey, recipientDomain, messageId].some((value) => value !== undefined)
  return own || readsMessage(search) || not.some(hasConditions)
}

/** The conditions that do not determine how deliveries are found, and those that do so only in part. */
export function conditionsOf(sql: AnySql, search: MessageSearch): Fragment {
  const all = (conditions: readonly Fragment[]): Fragment =>
    conditions.reduce<Fragment>((sum, one) => sql`${sum} and ${one}`, sql``)
  const excluded = (search.not ?? [])
    .map((one) => listOf(sql, one))
    .filter((conditions) => conditions.length > 0)
    .map((conditions): Fragment => sql`(true ${all(conditions)}) is not true`)
  return sql`${all(listOf(sql, search))} ${all(excluded)}`
}

function listOf(sql: AnySql, search: MessageSearch): readonly Fragment[] {
  const { states, met = [], recipientKey, recipientDomain, from, domain, subjectBegins, door } = search
  const conditions: Fragment[] = []
  if (search.messageId !== undefined) conditions.push(sql`d.message_id = ${search.messageId || null}::uuid`)
  if (search.recipientNo !== undefined) conditions.push(sql`d.recipient_no = ${search.recipientNo}::int`)
  if (states) {
    const any = met.map((one) => hasMet(sql, one)).reduce<Fragment>((all, one) => sql`${all} or ${one}`, sql``)
    conditions.push(sql`(d.state = any(${[...states]}::text[]) ${any})`)
  }
  if (recipientKey !== undefined) conditions.push(sql`d.recipient_key = ${recipientKey}::text`)
  if (recipientDomain !== undefined) conditions.push(sql`d.recipient_domain = ${recipientDomain}::text`)
  if (from !== undefined) conditions.push(sql`lower(${fromOf(sql)}) = ${from}::text`)
  if (domain !== undefined) {
    conditions.push(sql`lower(substring(${fromOf(sql)} from '@([^@]*)$')) = ${domain}::text`)
  }
  if (subjectBegins !== undefined) {
    conditions.push(sql`starts_with(lower(${subjectOf(sql)}), lower(${subjectBegins}::text))`)
  }
  if (door !== undefined) conditions.push(sql`m.door = ${door}::text`)
  if (search.hasAttachment) conditions.push(hasAttachment(sql))
  return conditions
}

/** Complaints have no row of their own: they are events, at any time after the message. */
function hasMet(sql: AnySql, met: Met): Fragment {
  return met === 'complained'
    ? sql`exists (select from events e where e.message_id = d.message_id and e.recipient_no = d.recipient_no and e.type = 'complained')`
    : sql`exists (select from engagements e where e.message_id = d.message_id and e.recipient_no = d.recipient_no and e.kind = ${met}::text
                     and not e.machine)`
}
