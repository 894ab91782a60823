/** Maximum size of a form in bytes; that of a preferences page has up to a hundred groups. */
export const FORM_LIMIT = 8192

/**
 * Returns whether the body contains `List-Unsubscribe=One-Click` (RFC 8058 3.1), as multipart/form-data or urlencoded, whatever
 * its Content-Type says. It is one field with one value, and mail providers vary everything around it.
 */
export function isOneClick(body: unknown): boolean {
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
