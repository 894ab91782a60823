import type { TrackingTarget } from '../composition/links/token.ts'
import type { AnySql, Sql } from '../platform/database/database.ts'
import type { SuppressionReason } from '../suppressions/suppression.ts'

/** Maximum number of groups on a preferences page. */
export const MAX_SHOWN_GROUPS = 100

/** Content of the pages for the recipient of a message. It says nothing of who the recipient is. */
export interface ReaderView {
  /** The domain of the From address. */
  readonly domain: string
  /** Set if the recipient gets no mail of the account because of an unsubscribe, a complaint, or the sender's list. */
  readonly left: LeftMail | null
  /** The link's group; null if the link is for all mail, or if it is not a group of the account. */
  readonly group: ReaderGroup | null
  /** Set if the recipient left the link's group, whether or not the account has it. */
  readonly groupLeft: LeftMail | null
  /** The groups to choose from: those that the message names, in its order, else all of the account. Empty if the recipient was erased. */
  readonly groups: readonly ReaderGroup[]
}

export interface ReaderGroup {
  readonly id: number
  readonly name: string
  readonly description: string
  readonly left: LeftMail | null
}

export interface LeftMail {
  readonly since: Date
  /** Whether the recipient may subscribe again here; otherwise only the sender can remove the entry. */
  readonly isLiftable: boolean
}

interface Entry {
  readonly group: number
  readonly reason: SuppressionReason
  readonly since: Date
}

/** Returns the content of the pages; null if the message is no longer stored. Changes nothing. */
export async function readerView(sql: Sql, target: TrackingTarget): Promise<ReaderView | null> {
  const { accountId, messageId, recipientNo, group } = target
  const [message] = await sql<{ domain: string; key: string | null }[]>`
    select split_part(m.from_address, '@', 2) as domain,
           (select d.recipient_key from deliveries d where d.message_id = m.id and d.recipient_no = ${recipientNo}) as key
      from messages m where m.id = ${messageId}::uuid and m.account_id = ${accountId}`
  if (!message) return null
  const { domain, key } = message
  const named = await selectShown(sql, target)
  const own = group > 0 ? (named.find(({ id }) => id === group) ?? (await selectGroup(sql, target))) : undefined
  // The pseudonym of an erased recipient has no @; an entry for it cannot be shown.
  const entries = key?.includes('@')
    ? await selectEntries(sql, accountId, key, [0, group, ...named.map(({ id }) => id)])
    : []
  const of = (id: number) => leftOf(entries.find((entry) => entry.group === id))
  const withState = (one: Named): ReaderGroup => ({ ...one, left: of(one.id) })
  return {
    domain,
    left: of(0),
    group: own ? withState(own) : null,
    groupLeft: group > 0 ? of(group) : null,
    groups: key?.includes('@') ? named.map(withState) : [],
  }
}

/** Returns the numbers of the groups that the message's preferences page shows. */
export async function shownGroupIds(sql: AnySql, target: TrackingTarget): Promise<ReadonlySet<number>> {
  return new Set((await selectShown(sql, target)).map(({ id }) => id))
}

type Named = Omit<ReaderGroup, 'left'>

function selectShown(sql: AnySql, { accountId, messageId }: TrackingTarget): Promise<Named[]> {
  return sql<Named[]>`
    with named as materialized (
      select array(select jsonb_array_elements_text(m.settings->'groupsToDisplay')) as texts
        from messages m
       where m.id = ${messageId}::uuid and m.account_id = ${accountId})
    select g.id, g.name, g.description
      from unsubscribe_groups g, named
     where g.account_id = ${accountId} and g.deleted_at is null
       and (cardinality(texts) = 0 or g.id::text = any(texts))
     order by array_position(texts, g.id::text), g.id limit ${MAX_SHOWN_GROUPS}`
}

async function selectGroup(sql: AnySql, { accountId, group }: TrackingTarget): Promise<Named | undefined> {
  const [found] = await sql<Named[]>`
    select id, name, description from unsubscribe_groups
     where account_id = ${accountId} and id = ${group} and deleted_at is null`
  return found
}

async function selectEntries(sql: AnySql, accountId: number, key: string, groups: readonly number[]): Promise<Entry[]> {
  return sql<Entry[]>`
    select s.group_id as "group", s.reason, s.since from suppressions s
     where s.account_id = ${accountId} and s.value = ${key} and s.group_id = any(${[...groups]}::int[])
       and (s.held_until is null or s.held_until > service_now())`
}

/** A bounce is not a choice of the recipient, who evidently reads mail. */
function leftOf(entry: Entry | undefined): LeftMail | null {
  if (!entry || entry.reason === 'hardbounce') return null
  const isLiftable = entry.group > 0 ? entry.reason !== 'abuse' : entry.reason === 'unsubscribe'
  return { since: entry.since, isLiftable }
}
