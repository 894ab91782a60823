/** Headers of every page. No inline script or style runs, nothing loads from another host, and no other site may frame a page. */
export const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self'; " +
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), publickey-credentials-get=(self)',
  // A page shows what one visitor may see, now: the back button asks again after a log-out.
  'cache-control': 'no-store',
  vary: 'accept-encoding',
} as const

/**
 * Headers of content that others wrote (a message's HTML). It has no origin, runs nothing, and loads nothing from elsewhere unless the visitor
 * requested the remote images.
 */
export function contentHeaders(remoteImages: boolean): Readonly<Record<string, string>> {
  const images = remoteImages ? 'https: http: data:' : 'data:'
  return {
    'content-security-policy':
      `sandbox; default-src 'none'; img-src ${images}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; ` +
      "frame-ancestors 'self'",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  }
}
