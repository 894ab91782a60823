/**
 * The key of the object that has the body of a message: its day, its account and its id, of which 74 bits are random. Days are those of the
 * ids (RFC 9562 5.7), as the weeks of the table of bodies are, so that the objects of a week are those of seven days.
 */
export function bodyKey({ id, accountId }: { readonly id: string; readonly accountId: number }): string {
  const hex = id.replaceAll('-', '')
  return `${dayPrefix(new Date(Number.parseInt(hex.slice(0, 12), 16)))}${accountId}/${hex}`
}

/** Returns the beginning of the keys of a day in UTC. */
export function dayPrefix(day: Date): string {
  return `${day.toISOString().slice(0, 10)}/`
}

/** The message of an object; undefined if the object contains no body. */
export function messageOfKey(key: string): { readonly id: string; readonly accountId: number } | undefined {
  const [, account, hex] = /^\d{4}-\d\d-\d\d\/(\d{1,10})\/([0-9a-f]{32})$/.exec(key) ?? []
  if (account === undefined || hex === undefined) return undefined
  const id = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
  const message = { id, accountId: Number(account) }
  return bodyKey(message) === key ? message : undefined
}
