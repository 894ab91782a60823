import type { ByteBudget, Core, Principal } from '@postrider/core'
import type { LargeCalls } from './large-calls/index.ts'

/** What v2 and v3 are opened with. */
export interface Doors {
  readonly core: Core
  /** The service's own base URL, for links in answers. */
  readonly publicUrl: string
  /** Where calls come from outside. */
  readonly entrance?: Entrance
  /** In the thread of large calls: who calls. The process has asked for the key, kept the rate and made room. */
  readonly letIn?: () => Principal
}

export interface Entrance {
  readonly budget: ByteBudget
  readonly largeCalls: LargeCalls
  /** The process is draining: nothing new is accepted. */
  readonly isStopping: () => boolean
}
