import type { Sql } from '../../platform/database/database.ts'
import type { Reads } from '../../platform/database/reads.ts'
import { type Acts, countActs } from '../queries/count-acts.ts'
import { type DeliveryPage, type DeliveryQuery, listDeliveries } from '../queries/list-deliveries.ts'
import { fillBlocks } from './fill-blocks.ts'
import { namesMessage } from './names.ts'
import { type SearchClock, selectClock } from './times.ts'

export interface SearchOperations {
  /** See list-deliveries.ts. Without `reads`, and for one message, it shows the current state. */
  list(query: DeliveryQuery, reads?: Reads): Promise<DeliveryPage>
  /** See count-acts.ts. */
  countActs(deliveries: Parameters<typeof countActs>[1], reads?: Reads): Promise<readonly Acts[]>
  /** Returns what times of a search are relative to. */
  searchClock(accountId: number | undefined): Promise<SearchClock>
  /** Puts some messages into the blocks that searches for words read. Returns whether there may be more. */
  fillSearch(): Promise<boolean>
}

export function searchOperations(sql: Sql, current: Reads): SearchOperations {
  return {
    // A message is looked for by its id by those who have just sent it.
    list: (query, reads = current) => listDeliveries(namesMessage(query.search) ? current : reads, query),
    countActs: (deliveries, reads = current) => countActs(reads, deliveries),
    searchClock: (accountId) => selectClock(sql, accountId),
    fillSearch: () => fillBlocks(sql),
  }
}
