import { type ByteBudget, type Core, LIMITS, type Principal } from '@postrider/core'
import type { FastifyServerOptions } from 'fastify'
import type { LargeCalls } from './large-calls/index.ts'

/** What every application with these doors has. */
export const FRAME = {
  bodyLimit: LIMITS.messageSize,
  // An address in a path may be as long as an address may be, each octet of it written as three.
  routerOptions: { ignoreTrailingSlash: true, caseSensitive: false, maxParamLength: 1000 },
  // JSON must mean what it says: coercion would turn "abc" into ["abc"] and null into "" before 120 and 116 could be seen.
  ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allErrors: false } },
} as const satisfies FastifyServerOptions

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
