import { onlyRow, type Sql } from '../platform/database/database.ts'

/**
 * Transaction numbers (v2 TRANSID, v2 contract 16.3): ten digits of Unix time and seven digits of a counter that is a
 * multiple of 4, so that the numbers stay exact when a JSON parser reads them as doubles. The counter is allocated from
 * the database in blocks; a message uses consecutive numbers, one per recipient.
 */
const BLOCK = 16_384
/** Number of multiples of 4 with at most seven digits. */
const CYCLE = 2_500_000

export interface TransactionNumbers {
  /** Returns the first of `count` (at most 10,000) numbers; the others follow in steps of 4. */
  take(count: number, now: number): Promise<bigint>
}

export function createTransactionNumbers(sql: Sql): TransactionNumbers {
  let next = 0
  let end = 0
  let fetching: Promise<void> | undefined

  async function fetchBlock(): Promise<void> {
    const { start } = onlyRow(await sql<{ start: string }[]>`select nextval('transaction_numbers') as start`)
    next = Number(start)
    end = next + BLOCK
  }

  return {
    async take(count, now) {
      for (;;) {
        const position = next % CYCLE
        // A range must not wrap around the cycle: the rest of the cycle is skipped, so that no number is used twice.
        if (position + count > CYCLE) next += CYCLE - position
        if (next + count <= end) break
        fetching ??= fetchBlock().finally(() => {
          fetching = undefined
        })
        await fetching
      }
      const first = next % CYCLE
      next += count
      return BigInt(Math.floor(now / 1000)) * 10_000_000n + BigInt(first) * 4n
    },
  }
}

export function transactionNumber(base: string | bigint, recipientNo: number): string {
  return String(BigInt(base) + 4n * BigInt(recipientNo))
}
