import type { TestService } from '../../../helpers/service.ts'
import type { Caller, WallEntry as Entry } from '../../try-wall.ts'

export type { Caller } from '../../try-wall.ts'
export type Input = Record<string, unknown>

/** Makes something of the owner's by any means. */
export interface Setting {
  readonly service: TestService
  /** Calls an operation as somebody; throws unless it answers 200. */
  readonly act: (caller: Caller, operation: string, input: Input) => Promise<unknown>
}

export type WallEntry = Entry<Input, Setting>
export type Wall = Readonly<Record<string, WallEntry>>
