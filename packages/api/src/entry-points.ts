import { type ByteBudget, type Core, LIMITS, type Principal } from '@postrider/core'
import type { FastifyServerOptions } from 'fastify'
import type { LargeCalls } from './large-calls/index.ts'

/** Fastify options of every application that serves the API's entry points. */
export const FRAME = {
  bodyLimit: LIMITS.messageSize,
  // An address in a path may have the maximum length of an address, with each byte percent-encoded as three.
  routerOptions: { ignoreTrailingSlash: true, caseSensitive: false, maxParamLength: 1000 },
  ajv: {
    customOptions: {
      // Coercion would turn "abc" into ["abc"] and null into "" before errors 120 and 116 could be detected.
      coerceTypes: false,
      removeAdditional: false,
      useDefaults: false,
      allErrors: false,
      // The schemas are constants, and V8 optimizes what runs often. Checking the schemas and optimizing the code of their validators
      // took 55 of the 70 ms of the first one, at each start; the validators are as fast without.
      validateSchema: false,
      code: { optimize: false },
    },
  },
} as const satisfies FastifyServerOptions

export interface EntryPointOptions {
  readonly core: Core
  /** Base URL of the service, for links in responses. */
  readonly publicUrl: string
  /** Set where calls arrive from the network. */
  readonly entrance?: Entrance
  /**
   * Set in the thread for large calls: returns the caller. The main thread has already checked the key, applied the rate limit
   * and reserved memory.
   */
  readonly letIn?: () => Principal
}

export interface Entrance {
  readonly budget: ByteBudget
  readonly largeCalls: LargeCalls
  /** Whether the process is draining and accepts no new calls. */
  readonly isStopping: () => boolean
}
