/** 31 bytes: version, id of the message, number of the recipient, day, signature. */
const RETURN_PATH = /^b-([a-z2-7]{50})@/i
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'

/** Returns the id of the message whose delivery has this return path, in 32 hex digits; undefined for other return paths. The signature is not verified. */
export function messageIdOf(returnPath: string): string | undefined {
  const text = RETURN_PATH.exec(returnPath.slice(0, 320))?.[1]?.toLowerCase()
  if (text === undefined) return undefined
  let hex = ''
  let value = 0
  let bits = 0
  for (const sign of text) {
    value = (value << 5) | ALPHABET.indexOf(sign)
    bits += 5
    while (bits >= 4) {
      bits -= 4
      hex += (value >> bits).toString(16)
      value &= (1 << bits) - 1
    }
  }
  // The first byte is the version.
  return hex.startsWith('01') ? hex.slice(2, 34) : undefined
}

/** URL of the message's history in the dashboard. */
export function historyUrl(publicUrl: string, returnPath: string): string | undefined {
  const id = messageIdOf(returnPath)
  return id === undefined ? undefined : `${publicUrl}/app/messages/${id}`
}
