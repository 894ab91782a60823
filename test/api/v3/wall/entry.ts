import type { TestService } from '../../../helpers/service.ts'
import type { Caller, WallEntry as Entry } from '../../try-wall.ts'

export type { Caller } from '../../try-wall.ts'

/** What goes into path, query and body. */
export interface Input {
  readonly params?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, string | number>>
  readonly body?: unknown
}

/** Makes something of the owner's by any means. */
export interface Setting {
  readonly service: TestService
  /** Calls an operation as somebody and answers its JSON; throws unless it succeeds. */
  readonly act: (caller: Caller, operation: string, input?: Input) => Promise<unknown>
}

export type WallEntry = Entry<Input, Setting>
export type Wall = Readonly<Record<string, WallEntry>>
