const [SPACE, PLUS, PERCENT] = [0x20, 0x2b, 0x25]

/**
 * Decodes form-encoded text: `+` is a space, `%` and two hexadecimal digits are a byte of UTF-8 (WHATWG URL 5.1). Works byte by
 * byte, since each regular expression match takes memory of its own: text of 10 million escapes ended the process. Returns
 * undefined if the result is not UTF-8, or if a `%` without digits occurs and is not to be kept.
 */
export function percentDecoded(text: string, { stray }: { stray: 'kept' | 'refused' }): string | undefined {
  if (!text.includes('%') && !text.includes('+')) return text
  const octets = Buffer.from(text)
  let length = 0
  for (let at = 0; at < octets.length; at++) {
    const octet = octets[at] as number
    if (octet === PLUS) octets[length++] = SPACE
    else if (octet !== PERCENT) octets[length++] = octet
    else {
      const [high, low] = [digit(octets[at + 1]), digit(octets[at + 2])]
      if (high === undefined || low === undefined) {
        if (stray === 'refused') return undefined
        octets[length++] = PERCENT
      } else {
        octets[length++] = high * 16 + low
        at += 2
      }
    }
  }
  try {
    return utf8.decode(octets.subarray(0, length))
  } catch {
    return undefined
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function digit(octet: number | undefined): number | undefined {
  if (octet === undefined) return undefined
  if (octet >= 0x30 && octet <= 0x39) return octet - 0x30
  const letter = octet | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined
}
