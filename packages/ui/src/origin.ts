import type { IncomingMessage } from 'node:http'

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Whether the request may change something: it comes from a page of this origin. Browsers send Sec-Fetch-Site from secure contexts; without it
 * the Origin must name the host that was asked, and `scheme`, which is how visitors reach it. A request with neither is refused: no browser that
 * could carry a visitor's cookie sends one.
 */
export function isFromHere(
  { method, headers }: { readonly method: string; readonly headers: IncomingMessage['headers'] },
  scheme: 'http:' | 'https:',
): boolean {
  if (SAFE.has(method)) return true
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const { origin, host } = headers
  if (origin === undefined || host === undefined || !URL.canParse(origin)) return false
  const from = new URL(origin)
  return from.protocol === scheme && from.host === host.toLowerCase()
}
