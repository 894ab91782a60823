import type { NoticeKind } from '../../accounts/notices/note-owners.ts'
import type { Notice, NoticeAccount } from '../../accounts/notices/notice.ts'
import type { Sql, SqlTransaction } from '../../platform/database/database.ts'

/** A claimed mail: the notices of an account that wait. */
export interface Bundle extends NoticeAccount {
  readonly number: number
  /** The address of the account. */
  readonly email: string | null
  readonly isOn: boolean
  readonly muted: readonly NoticeKind[]
  /** Since the mail was first due. */
  readonly hours: number
}

export type NoticeState = 'sent' | 'off' | 'over' | 'no-address' | 'failed'

/** Minutes until the next try, doubled with each. A process that has not finished by then is presumed dead. */
const [RETRY_MINUTES, MAX_RETRY_MINUTES] = [1, 60]
/** Hours between two mails to the owners of an account: at most four a day. */
const APART_HOURS = 6
/** Owners who are told, and notices of one mail. The others are in the next one. */
const MAX_OWNERS = 50
const MAX_NOTICES = 50

/** Claims the mail that has been due longest. The first try gives its number to the notices that wait. */
export async function claimBundle(sql: Sql): Promise<Bundle | undefined> {
  const [row] = await sql<Bundle[]>`
    with claimed as (
      update owner_notice_mails
         set tries = tries + 1, begun_at = coalesce(begun_at, service_now()), bundle = bundle + case when tries = 0 then 1 else 0 end,
             due_at = service_now() + make_interval(mins => least(${RETRY_MINUTES}::int * power(2, least(tries, 10))::int, ${MAX_RETRY_MINUTES}::int))
       where account_id in (
         select account_id from owner_notice_mails where due_at <= service_now() order by due_at limit 1 for update skip locked)
      returning *
    ), bundled as (
      update owner_notices n set bundle = c.bundle from claimed c
       where c.tries = 1 and (n.account_id, n.kind, n.subject) in (
         select w.account_id, w.kind, w.subject from owner_notices w
          where w.account_id = c.account_id and w.state = 'waiting' order by w.created_at limit ${MAX_NOTICES})
    )
    select c.account_id as "accountId", c.bundle as number, a.name, a.email, a.muted_notices as muted,
           a.account_notices and a.state <> 'deleted' as "isOn", (extract(epoch from service_now() - c.begun_at) / 3600)::float8 as hours
      from claimed c join accounts a on a.id = c.account_id`
  return row
}

export async function selectNotices(sql: Sql, { accountId, number }: Bundle): Promise<Notice[]> {
  return sql<Notice[]>`
    select kind, subject, detail, created_at as "createdAt" from owner_notices
     where account_id = ${accountId} and bundle = ${number} and state = 'waiting' order by created_at, kind, subject`
}

/** The owners who can log in, with addresses that they confirmed or, for the holder of a subaccount, that its parent gave. */
export async function selectOwners(sql: Sql, accountId: number): Promise<string[]> {
  const rows = await sql<{ email: string }[]>`
    select u.email from memberships m join users u on u.id = m.user_id
     where m.account_id = ${accountId} and m.role = 'owner' and u.disabled_at is null and u.email is not null
       and (u.verified_at is not null or u.holder_of is not null)
     order by u.id limit ${MAX_OWNERS}`
  return rows.map(({ email }) => email)
}

/** An import that the owners are to see. */
export interface EndedImport {
  readonly from: string
  /** Why it is incomplete; empty if it is not. */
  readonly failure: string
  readonly at: Date
}

/** Returns the imports that ended within a week, the latest first. */
export async function selectEndedImports(sql: Sql, accountId: number): Promise<EndedImport[]> {
  return sql<EndedImport[]>`
    select coalesce(detail->>'from', '') as "from", coalesce(detail->>'failure', '') as failure, created_at as at from owner_notices
     where account_id = ${accountId} and kind = 'import' and created_at > service_now() - interval '7 days' order by created_at desc limit 5`
}

/** Stores what became of the notices of a mail, and when the next mail is due. */
export async function saveBundle(
  sql: Sql,
  { accountId, number }: Bundle,
  states: readonly (readonly [Notice, NoticeState])[],
): Promise<void> {
  await sql.begin(async (transaction: SqlTransaction) => {
    // Each new notice locks it, too, so the statements below see all that were noted until now.
    const [mail] = await transaction`
      select from owner_notice_mails where account_id = ${accountId} and bundle = ${number} and tries > 0 for update`
    if (!mail) return
    for (const [{ kind, subject }, state] of states) {
      await transaction`
        update owner_notices set state = ${state}
         where account_id = ${accountId} and kind = ${kind} and subject = ${subject} and bundle = ${number} and state = 'waiting'`
    }
    const isSent = states.some(([, state]) => state === 'sent')
    await transaction`
      update owner_notice_mails m
         set tries = 0, begun_at = null, next_at = case when ${isSent} then service_now() + make_interval(hours => ${APART_HOURS}) else next_at end,
             due_at = case when exists (select from owner_notices where account_id = ${accountId} and state = 'waiting')
                           then case when ${isSent} then service_now() + make_interval(hours => ${APART_HOURS}) else service_now() end end
       where account_id = ${accountId}`
  })
}
