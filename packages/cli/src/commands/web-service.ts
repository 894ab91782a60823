import { type Call, textOption, UsageError } from '../command.ts'
import { reachable } from '../first-run.ts'

/** Octets of a response of the service. */
const MAX_OCTETS = 32 * 1024 * 1024

/** The address of `--server`, by default that of this machine's service, without a slash at its end. Throws {@link UsageError}. */
export function serverOf(call: Call): string {
  const { apiHost, apiPort } = call.config
  const own = `http://${reachable(apiHost)}:${apiPort}`
  return webUrl('server', textOption(call, 'server') ?? own).replace(/\/+$/, '')
}

/** Throws {@link UsageError}. */
export function webUrl(option: string, text: string): string {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol))
    throw new UsageError(`--${option} must be an http or https URL (got "${text}")`)
  return url.href
}

/** Throws a SyntaxError if the response is too long for one of the service. */
export async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > MAX_OCTETS) throw new SyntaxError('too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
