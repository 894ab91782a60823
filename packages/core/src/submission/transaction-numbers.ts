import { onlyRow, type Sql } from '../platform/database/database.ts'

/**
 * Transaction numbers (v2 TRANSID, v2 contract 16.3): ten digits of Unix time, seven digits of a counter, a multiple of 4, so
 * that they stay exact where a JSON reader makes doubles of them. Numbers come from the database in blocks; a message takes
 * one for each recipient, in a row.
 */
const BLOCK = 16_384
/** How many multiples of 4 fit into seven digits. */
const CYCLE = 2_500_000

export interface TransactionNumbers {
  /** The first of `count` (at most 10,000) numbers; the others follow in steps of 4. */
  take(count: number, now: number): Promise<bigint>
}

export function transactionNumbersOf(sql: Sql): TransactionNumbers {
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
        const place = next % CYCLE
        // A run must not wrap around the cycle: what is left of it is passed over, so that nothing is given twice.
        if (place + count > CYCLE) next += CYCLE - place
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
