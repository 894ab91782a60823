import type { MostDays } from '../accounts/index.ts'
import type { Sql } from '../platform/database/database.ts'
import { dropPartitions } from './drop-partitions.ts'
import { noteShortKeepers, shortenSome } from './shorten.ts'

/** Clears away what is past its time: for delivery workers, any number at once. */
export interface Retention {
  /**
   * Drops partitions past their time, if nobody did in the last minute. Answers their names.
   *
   * Throws what the database says when somebody is in the way: a later round goes on there.
   */
  dropPartitions(): Promise<string[]>
  /** One turn of an account that keeps less than the operator does. False: none is due. */
  shortenSome(): Promise<boolean>
}

export function retentionOf(sql: Sql, most: MostDays): Retention {
  /** True once a minute, for one of all who ask. */
  async function takeTurn(name: 'partitions' | 'accounts'): Promise<boolean> {
    const { count } = await sql`
      update retention_turns set turn_at = service_now() + interval '1 minute' where name = ${name} and turn_at <= service_now()`
    return count > 0
  }
  return {
    dropPartitions: async () => ((await takeTurn('partitions')) ? dropPartitions(sql, most) : []),
    async shortenSome() {
      if (await takeTurn('accounts')) await noteShortKeepers(sql)
      return shortenSome(sql, most)
    },
  }
}
