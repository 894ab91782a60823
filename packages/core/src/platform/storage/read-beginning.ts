import type { IncomingMessage } from 'node:http'

/** Reads the first bytes of an answer, at most as many as given, and closes its connection if there are more. */
export async function readBeginning(response: IncomingMessage, most: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    chunks.push(chunk as Buffer)
    if ((size += (chunk as Buffer).length) > most) break
  }
  return Buffer.concat(chunks).subarray(0, most)
}
