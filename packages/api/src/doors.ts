import { LIMITS } from '@postrider/core'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import type { Doors } from './entrance.ts'
import { v2 } from './v2/index.ts'
import { v3 } from './v3/index.ts'

/** What every application with these doors has. */
export const FRAME = {
  bodyLimit: LIMITS.messageSize,
  // An address in a path may be as long as an address may be, each octet of it written as three.
  routerOptions: { ignoreTrailingSlash: true, caseSensitive: false, maxParamLength: 1000 },
  // JSON must mean what it says: coercion would turn "abc" into ["abc"] and null into "" before 120 and 116 could be seen.
  ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allErrors: false } },
} as const satisfies FastifyServerOptions

/** Registers v2 and v3. */
export async function openDoors(app: FastifyInstance, doors: Doors): Promise<void> {
  app.decorateRequest('principal')
  app.decorateRequest('fileParts')
  app.decorateRequest('octets')
  // v2.1 is announced only; what exists is served under both (contract section 1).
  for (const prefix of ['/v2', '/v2.1']) await app.register(v2, { prefix, ...doors })
  await app.register(v3, { prefix: '/v3', ...doors })
}
