/**
 * Bodies larger than this many bytes are processed in the thread for large calls; parsed and validated here, they would delay all
 * other calls.
 */
export const LARGE_BODY = 256 * 1024

/** Placeholder for a body that was received and not parsed. */
export class LargeBody {}

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as received, decompressed. */
    octets: Buffer | undefined
  }
}
