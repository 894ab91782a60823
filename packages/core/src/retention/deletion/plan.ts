import { type Actor, ALL_ACCOUNTS, type Change, isKnown, noteChange, OPERATOR } from '../../accounts/audit/index.ts'
import { lockAccount } from '../../accounts/store.ts'
import { selectHolder } from '../../domains/store.ts'
import type { Config } from '../../platform/config/config.ts'
import { type AnySql, onlyRow, type Sql } from '../../platform/database/database.ts'
import { invalidParameter } from '../../platform/errors.ts'
import { type AccountDeletion, countRows, DELETION_COLUMNS, type DeletionPlan } from './deletion.ts'

/** Days after which the removal begins. A mistake is usually noticed within a week. */
export const GRACE_DAYS = { usual: 7, most: 90 } as const

/** Why a plan was not confirmed. */
export interface DeletionProblem {
  readonly why: 'unknown' | 'expired' | 'confirmed' | 'closed'
}

const PLAN_MINUTES = 10
/** Calls that had begun when the account was closed have ended by then. */
const SETTLE_MINUTES = 5

/** Returns the message for the operator. */
export function deletionProblemText({ why }: DeletionProblem, id: number): string {
  switch (why) {
    case 'unknown':
      return `plan ${id} of account delete not found`
    case 'expired':
      return `plan ${id} has expired; make a new one`
    case 'confirmed':
      return `plan ${id} was already confirmed; "account deletions" shows its progress`
    case 'closed':
      return `the account of plan ${id} is closed already; "account deletions" lists all deletions`
  }
}

export interface DeletionDependencies {
  readonly sql: Sql
  readonly config: Pick<Config, 'serviceDomain'>
}

/** Stores a plan, and returns what the deletion would remove now. Throws parameterInvalid (account, graceDays). */
export async function planDeletion(
  { sql, config: { serviceDomain } }: DeletionDependencies,
  accountId: number,
  graceDays: number,
): Promise<DeletionPlan> {
  if (!Number.isInteger(graceDays) || graceDays < 0 || graceDays > GRACE_DAYS.most)
    throw invalidParameter('graceDays', `must be a whole number from 0 to ${GRACE_DAYS.most}`)
  const { name } = await requireDeletable(sql, accountId)
  const sender = serviceDomain === undefined ? undefined : await selectHolder(sql, serviceDomain)
  if (sender?.accountId === accountId)
    throw invalidParameter(
      'account',
      `has ${serviceDomain}, which mail of the service itself is sent from (SERVICE_DOMAIN)`,
    )
  const counts = await countRows(sql, accountId)
  const { id, expiresAt } = onlyRow(
    await sql<{ id: number; expiresAt: Date }[]>`
      insert into account_deletions (account_id, grace_days, counts)
      values (${accountId}, ${graceDays}, ${JSON.stringify(counts)}::text::jsonb)
      returning id, created_at + make_interval(mins => ${PLAN_MINUTES}) as "expiresAt"`,
  )
  return { id, accountId, name, graceDays, counts, expiresAt }
}

async function requireDeletable(sql: AnySql, accountId: number): Promise<{ readonly name: string }> {
  const [account] = await sql<{ name: string; parentId: number | null; closed: boolean; deleted: boolean }[]>`
    select name, parent_id as "parentId", closed_at is not null as closed, deleted_at is not null as deleted
      from accounts where id = ${accountId}::int`
  if (!account) throw invalidParameter('account', 'does not exist')
  if (account.deleted) throw invalidParameter('account', 'is deleted already')
  if (account.closed) throw invalidParameter('account', 'is closed already, and will be deleted')
  if (account.parentId !== null)
    throw invalidParameter('account', 'is a subaccount; "postrider subaccount delete" deletes it')
  return account
}

/** Closes the account of a plan, of the account `of` if that is given. A plan is confirmed once, within ten minutes. */
export async function confirmDeletion(
  sql: Sql,
  id: number,
  { by, of }: { readonly by: Actor; readonly of?: number | undefined },
): Promise<AccountDeletion | DeletionProblem> {
  return sql.begin(async (transaction) => {
    const [plan] = await transaction<(AccountDeletion & { expired: boolean })[]>`
      select ${DELETION_COLUMNS(transaction)}, created_at < service_now() - make_interval(mins => ${PLAN_MINUTES}) as expired
        from account_deletions where id = ${id} for update`
    if (!plan || (of !== undefined && plan.accountId !== of)) return { why: 'unknown' }
    if (plan.state !== 'planned') return { why: 'confirmed' }
    if (plan.expired) return { why: 'expired' }
    const { accountId, graceDays } = plan
    const account = await lockAccount(transaction, accountId)
    if (!account || account.closedAt) return { why: 'closed' }
    await transaction`update accounts set closed_at = service_now() where id = ${accountId}`
    const deletion = onlyRow(
      await transaction<AccountDeletion[]>`
        update account_deletions
           set state = 'closed', confirmed_at = service_now(), (remove_at, due_at) = (
                 select at, at from (select service_now() + greatest(make_interval(days => ${graceDays}),
                                                                    make_interval(mins => ${SETTLE_MINUTES})) as at) removal)
         where id = ${id} returning ${DELETION_COLUMNS(transaction)}`,
    )
    const after = { name: account.name, removeAt: deletion.removeAt?.toISOString() }
    await noteDeletion(transaction, { accountId, by, action: 'account.delete', object: `account ${accountId}`, after })
    return deletion
  }) as Promise<AccountDeletion | DeletionProblem>
}

/** Opens a closed account again. Throws parameterInvalid (account). */
export async function restoreAccount(sql: Sql, accountId: number, by: Actor): Promise<AccountDeletion> {
  return sql.begin(async (transaction) => {
    // In the order of a removal that begins: the other one ends in a deadlock.
    await transaction`select from account_deletions where account_id = ${accountId}::int and state = 'closed' for update`
    const [account] = await transaction<{ deleted: boolean; closed: boolean }[]>`
      select deleted_at is not null as deleted, closed_at is not null as closed from accounts
       where id = ${accountId}::int for no key update`
    if (!account) throw invalidParameter('account', 'does not exist')
    if (account.deleted) throw invalidParameter('account', 'is deleted, and cannot be restored')
    if (!account.closed) throw invalidParameter('account', 'is not closed')
    await transaction`update accounts set closed_at = null where id = ${accountId}`
    // Plans that were made before would close it again.
    await transaction`delete from account_deletions where account_id = ${accountId} and state = 'planned'`
    const deletion = onlyRow(
      await transaction<AccountDeletion[]>`
        update account_deletions set state = 'restored', finished_at = service_now(), due_at = null
         where account_id = ${accountId} and state = 'closed' returning ${DELETION_COLUMNS(transaction)}`,
    )
    await noteDeletion(transaction, { accountId, by, action: 'account.restore', object: `account ${accountId}` })
    return deletion
  }) as Promise<AccountDeletion>
}

/** Records the change in the log of the installation, which outlives the account, and in that of the account. */
async function noteDeletion(sql: AnySql, { accountId, by, ...change }: Change): Promise<void> {
  await noteChange(sql, { ...change, accountId: ALL_ACCOUNTS, by: isKnown(by) ? by : OPERATOR })
  await noteChange(sql, { ...change, accountId, by: OPERATOR })
}

const MAX_LISTED = 100

/** Returns the deletions that were confirmed, those that are not finished before others. Those of subaccounts are parts of their account's. */
export async function listDeletions(sql: Sql): Promise<AccountDeletion[]> {
  return sql<AccountDeletion[]>`
    select ${DELETION_COLUMNS(sql)} from account_deletions d
     where state <> 'planned' and not exists (select from accounts a where a.id = d.account_id and a.parent_id is not null)
     order by state in ('closed', 'removing') desc, id desc limit ${MAX_LISTED}`
}

/** Deletes plans after a day. */
export async function forgetPlans(sql: Sql): Promise<void> {
  await sql`
    delete from account_deletions where state = 'planned' and created_at < service_now() - interval '1 day'`
}
