import { lockBodies } from '../delivery/queue/deletion-locks.ts'
import type { AnySql, Sql } from '../platform/database/database.ts'
import { deleteBodies } from './delete-bodies.ts'

/** Messages looked at by one statement. */
const MESSAGES = 1000
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000'

interface Ended {
  readonly id: string
  readonly accountId: number
}

interface Page {
  /** The last message that was looked at; undefined on the last page. */
  readonly last: string | undefined
  readonly ended: readonly Ended[]
}

/**
 * Removes the content of mail that is not kept, some messages at each call, from the oldest on. A call returns whether there are more to look at in
 * this pass. `isDue` says whether a pass may begin.
 */
export function createContentRemoval(sql: Sql, isDue: () => Promise<boolean>): () => Promise<boolean> {
  /** Where the pass of this process goes on; undefined: none is under way. */
  let after: string | undefined
  return async () => {
    if (after === undefined && !(await isDue())) return false
    const { last, ended } = await pageAfter(sql, after ?? BEFORE_ALL)
    for (const [accountId, messages] of Map.groupBy(ended, (message) => message.accountId)) {
      const ids = messages.map(({ id }) => id)
      await sql.begin((transaction) => removeContents(transaction, accountId, ids))
    }
    after = last
    return last !== undefined
  }
}

/** Those whose last delivery has ended; others wait, perhaps for days. */
async function pageAfter(sql: AnySql, after: string): Promise<Page> {
  const rows = await sql<(Ended & { hasEnded: boolean })[]>`
    select message_id::text as id, account_id as "accountId",
           not exists (select from delivery_queue q where q.message_id = u.message_id) as "hasEnded"
      from unkept_contents u where message_id > ${after}::uuid order by message_id limit ${MESSAGES}`
  return {
    last: rows.length === MESSAGES ? rows.at(-1)?.id : undefined,
    ended: rows.filter(({ hasEnded }) => hasEnded),
  }
}

/** Members of a delivery's data that are content: the values that a recipient's copy was made with. Its own id and data stay. */
const PERSONAL = ['attributes', 'headers', 'substitutions', 'data', 'attachments']

/** Meanwhile a delivery may be queued again: then it has its content, and the message waits for its end. */
async function removeContents(sql: AnySql, accountId: number, ids: readonly string[]): Promise<void> {
  await lockBodies(sql, accountId)
  const ended = await sql<{ id: string }[]>`
    delete from unkept_contents u
     where message_id = any(${[...ids]}::uuid[]) and not exists (select from delivery_queue q where q.message_id = u.message_id)
    returning message_id::text as id`
  const gone = ended.map(({ id }) => id)
  await deleteBodies(sql, accountId, gone, { evenQueued: false })
  await sql`
    update finished_deliveries set personal = personal - ${PERSONAL}::text[]
     where message_id = any(${gone}::uuid[]) and personal ?| ${PERSONAL}::text[]`
}
