/** A body beyond this is read in the thread of large calls: parsed and judged here it would hold up everybody else's calls. */
export const LARGE_BODY = 256 * 1024

/** Stands for a body that was received and not read. */
export class LargeBody {}

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it came, unzipped. */
    octets: Buffer | undefined
  }
}
