import { ALL_ACCOUNTS, noteChange, OPERATOR } from '../../accounts/audit/index.ts'
import type { Sql, SqlTransaction } from '../../platform/database/database.ts'
import type { Part, Position } from './remove-rows.ts'
import { STEPS, tablesLeft } from './steps.ts'

/** Seconds after which a removal begins again if rows were written while it worked. */
const AGAIN = 10
/** Seconds after which a part that failed is tried again. */
const RETRY = 30

interface Removal {
  readonly id: number
  readonly accountId: number
  readonly state: 'closed' | 'removing'
  readonly step: string | null
  readonly position: Position | null
  readonly isSubaccount: boolean
}

/**
 * Does one part of the removal that is due for longest, in one short transaction, which also stores how far it is: a process that dies loses no more than
 * a part. Returns whether there may be more to do.
 */
export async function removeSome(sql: Sql): Promise<boolean> {
  let taken: Removal | undefined
  try {
    await sql.begin(async (transaction) => {
      taken = await takeRemoval(transaction)
      if (taken?.state === 'closed') await begin(transaction, taken)
      else if (taken) await work(transaction, taken)
    })
    return taken !== undefined
  } catch (error) {
    if (taken) await postpone(sql, taken.id, RETRY).catch(() => {})
    throw error
  }
}

async function takeRemoval(sql: SqlTransaction): Promise<Removal | undefined> {
  const [removal] = await sql<Removal[]>`
    select d.id, d.account_id as "accountId", d.state, d.step, d.position, a.parent_id is not null as "isSubaccount"
      from account_deletions d join accounts a on a.id = d.account_id
     where d.id = (select id from account_deletions where state in ('closed', 'removing') and due_at <= service_now()
                    order by due_at limit 1 for update skip locked)`
  return removal
}

/** From here on the account cannot be restored. */
async function begin(sql: SqlTransaction, { id, accountId }: Removal): Promise<void> {
  await sql`update accounts set state = 'deleted', deleted_at = service_now() where id = ${accountId}`
  await sql`
    update account_deletions set state = 'removing', step = null, position = null, due_at = service_now() where id = ${id}`
}

async function work(sql: SqlTransaction, removal: Removal): Promise<void> {
  const { accountId, id, position } = removal
  // A step that a newer version had, and this one has not: all steps once more.
  const at = Math.max(
    0,
    STEPS.findIndex(({ name }) => name === removal.step),
  )
  const step = STEPS[at]
  if (!step) return
  const part = await step.act(sql, { accountId, position: position ?? undefined })
  await sql`
    update account_deletions
       set removed = removed || jsonb_build_object(${step.name}::text, coalesce((removed->>${step.name}::text)::bigint, 0) + ${part.removed}::int)
     where id = ${id} and ${part.removed}::int > 0`
  const next = STEPS[at + 1]
  if (part.wait !== undefined) await postpone(sql, id, part.wait)
  else if (part.next !== undefined) await goOn(sql, id, step.name, part)
  else if (next) await goOn(sql, id, next.name, { removed: 0 })
  else await finish(sql, removal)
}

/** At the end of the queue: removals take turns. */
async function goOn(sql: SqlTransaction, id: number, step: string, { next }: Part): Promise<void> {
  await sql`
    update account_deletions
       set step = ${step}, position = ${next ? JSON.stringify(next) : null}::text::jsonb, due_at = service_now()
     where id = ${id}`
}

async function finish(sql: SqlTransaction, { id, accountId, isSubaccount }: Removal): Promise<void> {
  const left = await tablesLeft(sql, accountId)
  if (left.length > 0) {
    await sql`update account_deletions set step = null, position = null where id = ${id}`
    await postpone(sql, id, AGAIN)
    return
  }
  const rows = await sql<{ removed: Record<string, number> }[]>`
    update account_deletions set state = 'done', finished_at = service_now(), due_at = null, step = null, position = null
     where id = ${id} returning removed`
  // Up to now it held mail that was left.
  await sql`update accounts set closed_at = null where id = ${accountId}`
  if (isSubaccount) return
  // In the log of the installation, which stays.
  await noteChange(sql, {
    accountId: ALL_ACCOUNTS,
    by: OPERATOR,
    action: 'account.deleted',
    object: `account ${accountId}`,
    after: { removed: rows[0]?.removed ?? {} },
  })
}

async function postpone(sql: Sql | SqlTransaction, id: number, seconds: number): Promise<void> {
  await sql`
    update account_deletions set due_at = service_now() + make_interval(secs => ${seconds}::int) where id = ${id}`
}
