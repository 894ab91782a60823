/** Bytes of an answer that are read. */
const MAX_BYTES = 1_000_000

/** `fetch` for answers of at most 1 MB, without redirects. Throws an Error beyond that. */
export async function boundedFetch(url: string, options: object): Promise<Response> {
  const answer = await fetch(url, { ...(options as RequestInit), redirect: 'manual' })
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of answer.body ?? []) {
    size += chunk.length
    if (size > MAX_BYTES) throw new Error(`answer of more than ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  const { status, statusText, headers } = answer
  const hasBody = ![101, 204, 205, 304].includes(status)
  return new Response(hasBody ? Buffer.concat(chunks) : null, { status, statusText, headers })
}
