import { type AnySql, onlyRow } from '../../platform/database/database.ts'

/** Number of rows of a kind; `partial`: there are more. */
export interface Counted {
  readonly count: number
  readonly partial: boolean
}

/** The deletion of an account. */
export interface AccountDeletion {
  readonly id: number
  readonly accountId: number
  /** `closed`: the grace period lasts, and the account can be restored; `removing`: its rows are being removed. */
  readonly state: 'planned' | 'closed' | 'restored' | 'removing' | 'done'
  readonly graceDays: number
  readonly createdAt: Date
  readonly confirmedAt: Date | null
  /** When the removal begins, or began. */
  readonly removeAt: Date | null
  readonly finishedAt: Date | null
  /** How many rows each step has removed. */
  readonly removed: Readonly<Record<string, number>>
}

/** The deletion of an account before it is confirmed, with what it would remove now. */
export interface DeletionPlan extends Pick<AccountDeletion, 'id' | 'accountId' | 'graceDays'> {
  /** The name of the account. */
  readonly name: string
  /** By kind, with those of the account's subaccounts. */
  readonly counts: Readonly<Record<string, Counted>>
  readonly expiresAt: Date
}

export const DELETION_COLUMNS = (sql: AnySql) => sql`
  id, account_id as "accountId", state, grace_days as "graceDays", created_at as "createdAt", confirmed_at as "confirmedAt",
  remove_at as "removeAt", finished_at as "finishedAt", removed`

/** Rows that a plan counts of each kind at most. */
const MAX_COUNTED = 100_000

/** Counted tables, which have an account_id, and the condition for their rows. */
const KINDS: readonly (readonly [kind: string, table: string, condition?: string])[] = [
  ['queued', 'delivery_queue'],
  ['messages', 'messages'],
  ['events', 'events'],
  ['domains', 'domains', 'deleted_at is null'],
  ['members', 'memberships'],
  ['keys', 'api_keys', 'revoked_at is null'],
  ['webhooks', 'webhooks'],
  ['templates', 'templates'],
  ['editableTemplates', 'editable_templates'],
  ['attachments', 'attachments'],
  ['suppressions', 'suppressions'],
  ['unsubscribeGroups', 'unsubscribe_groups', 'deleted_at is null'],
  ['exports', 'export_jobs'],
]

/** Counts what belongs to an account and its subaccounts, each kind up to a bound, so that a large account takes no longer. */
export async function countRows(sql: AnySql, accountId: number): Promise<Record<string, Counted>> {
  const subaccounts = onlyRow(
    await sql<{ count: number }[]>`
      select count(*)::int as count from accounts where parent_id = ${accountId} and deleted_at is null`,
  )
  const counts: Record<string, Counted> = { subaccounts: { count: subaccounts.count, partial: false } }
  for (const [kind, table, condition = 'true'] of KINDS) {
    const { count } = onlyRow(
      await sql<{ count: number }[]>`
        select count(*)::int as count from (
          select from (select id from accounts where id = ${accountId} or parent_id = ${accountId}) a
           cross join lateral (
             select from ${sql(table)} where account_id = a.id and ${sql.unsafe(condition)} limit ${MAX_COUNTED + 1}) own
           limit ${MAX_COUNTED + 1}) found`,
    )
    counts[kind] = { count: Math.min(count, MAX_COUNTED), partial: count > MAX_COUNTED }
  }
  return counts
}
