import type { AnySql } from '../../platform/database/database.ts'

export interface FeedReads {
  /** Stores that the account's feed was read, if it was not stored before. */
  note(accountId: number): Promise<void>
  /** Whether the account's feed was ever read. */
  isRead(accountId: number): Promise<boolean>
}

/** Accounts of which this process remembers that it need not store it again. */
const MAX_REMEMBERED = 10_000

/** Remembers when the feed of each account was read first. Only the first read by a process writes, or finds that there is nothing to write. */
export function createFeedReads(sql: AnySql): FeedReads {
  const noted = new Set<number>()
  return {
    async note(accountId) {
      if (noted.has(accountId)) return
      if (noted.size >= MAX_REMEMBERED) noted.clear()
      await sql`update accounts set feed_read_at = service_now() where id = ${accountId} and feed_read_at is null`
      noted.add(accountId)
    },
    async isRead(accountId) {
      const [account] = await sql<{ isRead: boolean }[]>`
        select feed_read_at is not null as "isRead" from accounts where id = ${accountId}`
      return account?.isRead ?? false
    },
  }
}
