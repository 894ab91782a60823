import { Readable } from 'node:stream'
import { type Core, ServiceError } from '@postrider/core'
import type { FastifyInstance } from 'fastify'
import { FILE_TYPES } from './http/file-type.ts'

/** GET /exports/…: serves the file of a finished export to anyone who has its link, until the link expires. */
export async function exportLinks(app: FastifyInstance, { core }: { core: Core }): Promise<void> {
  app.get<{ Params: { token: string } }>('/exports/:token', { schema: { hide: true } }, async (request, reply) => {
    const file = await core.exports.fileOfLink(request.params.token)
    if (!file) throw new ServiceError('notFound')
    reply.type(`${FILE_TYPES[file.format]}; charset=utf-8`)
    reply.header('content-disposition', `attachment; filename="${file.fileName}"`)
    // Anyone with the link can download the file, so it must not be cached and the link must not leak to other sites.
    reply.header('cache-control', 'private, no-store')
    reply.header('referrer-policy', 'no-referrer')
    reply.header('x-content-type-options', 'nosniff')
    reply.header('x-robots-tag', 'noindex')
    return Readable.from(file.content, { objectMode: false })
  })
}
