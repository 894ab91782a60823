import type { AnySql } from '../../platform/database/database.ts'
import type { MessageSearch } from './search-text.ts'

type Fragment = ReturnType<AnySql>

/** Expressions and conditions of the list, over a delivery `d` and its message `m`. */

/** The sender that the delivery shows. */
export const fromOf = (sql: AnySql): Fragment => sql`coalesce(d.personal->'from'->>'email', m.from_address)`

/** The subject of the delivery, as submitted. */
export const subjectOf = (sql: AnySql): Fragment => sql`coalesce(d.personal->>'subject', m.subject)`

/** Attachments of a composed message are parts of its body; of a MIME message it is noted when it is accepted. */
export const hasAttachment = (sql: AnySql): Fragment => sql`
  case m.format when 'content' then m.parts > 1 else m.settings ? 'attachments' end`

/** Whether the conditions read the message. */
export function readsMessage({ from, domain, subject, tag, door, hasAttachment }: MessageSearch): boolean {
  return [from, domain, subject, tag, door, hasAttachment].some((value) => value !== undefined)
}

/** Whether there are conditions that deliveries of the account and the time may not meet. */
export function hasConditions(search: MessageSearch): boolean {
  const { states, recipientKey, recipientDomain } = search
  return readsMessage(search) || [states, recipientKey, recipientDomain].some((value) => value !== undefined)
}

/** The conditions that do not determine how deliveries are found, and those that do so only in part. */
export function conditionsOf(sql: AnySql, search: MessageSearch): Fragment {
  const { states, recipientKey, recipientDomain, from, domain, subject, tag, door, hasAttachment: attached } = search
  const conditions: Fragment[] = []
  if (states) conditions.push(sql`d.state = any(${[...states]}::text[])`)
  if (recipientKey !== undefined) conditions.push(sql`d.recipient_key = ${recipientKey}::text`)
  if (recipientDomain !== undefined) conditions.push(sql`d.recipient_domain = ${recipientDomain}::text`)
  if (from !== undefined) conditions.push(sql`lower(${fromOf(sql)}) = ${from}::text`)
  if (domain !== undefined) {
    conditions.push(sql`lower(substring(${fromOf(sql)} from '@([^@]*)$')) = ${domain}::text`)
  }
  if (subject) conditions.push(subjectIs(sql, subject))
  if (tag !== undefined) conditions.push(sql`${tag}::text = any(m.tags)`)
  if (door !== undefined) conditions.push(sql`m.door = ${door}::text`)
  if (attached) conditions.push(hasAttachment(sql))
  return conditions.reduce((all, one) => sql`${all} and ${one}`, sql``)
}

function subjectIs(sql: AnySql, { text, isPrefix }: NonNullable<MessageSearch['subject']>): Fragment {
  return isPrefix
    ? sql`starts_with(lower(${subjectOf(sql)}), lower(${text}::text))`
    : sql`lower(${subjectOf(sql)}) = lower(${text}::text)`
}
