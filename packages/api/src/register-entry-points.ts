import type { FastifyInstance } from 'fastify'
import type { EntryPointOptions } from './entry-points.ts'
import { v2 } from './v2/index.ts'
import { formSend } from './v3/form-send/index.ts'
import { v3 } from './v3/index.ts'

/** Registers the routes of v2, v3 and the form that v3 replaced. */
export async function registerEntryPoints(app: FastifyInstance, options: EntryPointOptions): Promise<void> {
  app.decorateRequest('principal')
  app.decorateRequest('fileParts')
  app.decorateRequest('message')
  app.decorateRequest('octets')
  // v2.1 is only announced; existing operations are served under both prefixes (v2 contract section 1).
  for (const prefix of ['/v2', '/v2.1']) await app.register(v2, { prefix, ...options })
  await app.register(v3, { prefix: '/v3', ...options })
  await app.register(formSend, { prefix: '/api', ...options })
}
