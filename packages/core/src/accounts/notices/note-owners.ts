import type { AnySql } from '../../platform/database/database.ts'
import { storableJson } from '../../platform/database/storable.ts'

/** Subjects of mail to the owners of an account. Each kind can be switched off (the account setting mutedNotices). */
export const NOTICE_KINDS = ['reputation', 'credit', 'domain', 'webhook', 'key', 'colleague', 'import'] as const
export type NoticeKind = (typeof NOTICE_KINDS)[number]

export interface NewNotice {
  readonly accountId: number
  readonly kind: NoticeKind
  /** The thing that it is about: the number of a webhook or key, a domain, a rule; empty if there is one of its kind. */
  readonly subject: string
  /** The occurrence: there is one notice for each mark, however often it is noted. Default: each time is one of its own. */
  readonly mark?: string
  /** Values for the text. */
  readonly detail: object
}

/** Seconds until the mail is sent, so that what happens together is told together. */
const BUNDLED_SECONDS = 60

/**
 * Notes what the owners of accounts are to be told (people/notices), in the transaction of the fact. What changes until the mail is sent replaces what was
 * noted about the same thing.
 */
export async function noteOwners(sql: AnySql, notices: readonly NewNotice[]): Promise<void> {
  if (notices.length === 0) return
  await sql`
    with given as (
      select * from jsonb_to_recordset(${storableJson(notices)}::text::jsonb)
             as g("accountId" int, kind text, subject text, mark text, detail jsonb)
    ), noted as (
      insert into owner_notices as n (account_id, kind, subject, mark, detail)
      select "accountId", kind, subject, coalesce(mark, service_now()::text), detail from given
      on conflict (account_id, kind, subject) do update
         set mark = excluded.mark, detail = excluded.detail, created_at = service_now(), state = 'waiting', bundle = null
       where n.mark <> excluded.mark or (n.state = 'waiting' and n.bundle is null and n.detail <> excluded.detail)
      returning account_id
    )
    insert into owner_notice_mails as m (account_id, due_at)
    select distinct account_id, service_now() + make_interval(secs => ${BUNDLED_SECONDS}) from noted order by account_id
    on conflict (account_id) do update set due_at = coalesce(m.due_at, greatest(excluded.due_at, m.next_at))`
}
