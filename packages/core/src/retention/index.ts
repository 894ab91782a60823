import type { Config } from '../platform/config/config.ts'
import type { Sql } from '../platform/database/database.ts'
import type { ObjectStore } from '../platform/storage/object-store.ts'
import { type BodyObjectRemoval, createBodyObjectRemoval, noteStorage } from './body-objects.ts'
import { type AccountDeletions, createAccountDeletions } from './deletion/index.ts'
import { forgetPlans } from './deletion/plan.ts'
import { dropPartitions } from './drop-partitions.ts'
import { createContentRemoval } from './remove-contents.ts'
import { noteShortKeepers, shortenSome } from './shorten.ts'

/** Deletes expired data. Delivery workers may call it concurrently. */
export interface Retention extends BodyObjectRemoval {
  /**
   * Drops expired partitions, unless another process did in the last minute. Returns their names.
   *
   * Throws the database's error if another session blocks it; a later round resumes there.
   */
  dropPartitions(): Promise<string[]>
  /** See deletion/index.ts. */
  readonly deletions: AccountDeletions
  /** Removes contents that are not kept, of some messages. Returns whether there may be more. See remove-contents.ts. */
  removeContents(): Promise<boolean>
  /** Deletes expired data of one account with shorter retention than the operator's. Returns false if no account is due. */
  shortenSome(): Promise<boolean>
}

/** `objects`: the storage of large bodies; undefined without BODY_STORE. */
export function createRetention(sql: Sql, config: Config, objects?: ObjectStore): Retention {
  /** Returns true once a minute, for one of all processes. */
  async function claimRun(name: 'partitions' | 'accounts' | 'contents'): Promise<boolean> {
    const { count } = await sql`
      update retention_turns set turn_at = service_now() + interval '1 minute' where name = ${name} and turn_at <= service_now()`
    return count > 0
  }
  return {
    ...createBodyObjectRemoval(sql, objects),
    deletions: createAccountDeletions({ sql, config }),
    async dropPartitions() {
      if (!(await claimRun('partitions'))) return []
      if (objects) await noteStorage(sql)
      await forgetPlans(sql)
      return dropPartitions(sql, config)
    },
    removeContents: createContentRemoval(sql, () => claimRun('contents')),
    async shortenSome() {
      if (await claimRun('accounts')) await noteShortKeepers(sql)
      return shortenSome(sql, config)
    },
  }
}
