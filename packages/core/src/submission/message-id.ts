/**
 * Encodes a message id in 22 URL-safe characters, for entry points whose clients expect ids of about this length (RFC
 * 4648 5).
 */
export function shortMessageId(messageId: string): string {
  return Buffer.from(messageId.replaceAll('-', ''), 'hex').toString('base64url')
}

/** Returns the id in 32 hex digits, or undefined for an invalid short id. */
export function fromShortMessageId(short: string): string | undefined {
  if (!/^[A-Za-z0-9_-]{22}$/.test(short)) return undefined
  const hex = Buffer.from(short, 'base64url').toString('hex')
  // The last character has four unused bits; without this check, one id would have several short forms.
  return shortMessageId(hex) === short ? hex : undefined
}

/** A message id as clients see it: 32 hex digits. */
export function messageIdText(id: string): string {
  return id.replaceAll('-', '')
}

/** Returns the UUID of a message id in either form, with or without hyphens; undefined for other texts. */
export function parseMessageId(text: string): string | undefined {
  const hex = (fromShortMessageId(text) ?? text).replaceAll('-', '').toLowerCase()
  if (!/^[0-9a-f]{32}$/.test(hex)) return undefined
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** Returns the time of a UUIDv7 (RFC 9562 5.7): when its message was accepted, by the clock of the database. */
export function timeOfId(id: string): Date {
  return new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16))
}
