/** A message id in 22 characters that need no escaping anywhere, for doors whose clients expect about so many (RFC 4648 5). */
export function shortMessageId(messageId: string): string {
  return Buffer.from(messageId.replaceAll('-', ''), 'hex').toString('base64url')
}

/** The id in 32 hex digits, or undefined for what is no short id. */
export function fromShortMessageId(short: string): string | undefined {
  if (!/^[A-Za-z0-9_-]{22}$/.test(short)) return undefined
  const hex = Buffer.from(short, 'base64url').toString('hex')
  // The last character has four bits to spare; two spellings of one id would be two ids elsewhere.
  return shortMessageId(hex) === short ? hex : undefined
}

/** A message id as clients see it: 32 hex digits. */
export function messageIdText(id: string): string {
  return id.replaceAll('-', '')
}
