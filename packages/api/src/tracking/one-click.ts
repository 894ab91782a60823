/** Octets of a form that says one word. */
export const FORM_LIMIT = 8192

/**
 * Does the body say `List-Unsubscribe=One-Click` (RFC 8058 3.1)? As multipart/form-data or urlencoded, whatever its Content-Type
 * says: it is one field with one value, and mail providers spell the rest in many ways.
 */
export function saysOneClick(body: unknown): boolean {
  if (typeof body !== 'string') return false
  const urlencoded = body.split('&').some((pair) => /^list-unsubscribe=one-click$/i.test(decode(pair).trim()))
  return (
    urlencoded ||
    /^content-disposition:[^\r\n]*\bname="?list-unsubscribe"?[\s\S]*?\r?\n\r?\n[ \t]*one-click[ \t]*\r?$/im.test(body)
  )
}

function decode(pair: string): string {
  try {
    return decodeURIComponent(pair.replaceAll('+', ' '))
  } catch {
    return pair
  }
}
