/** A character-string of a TXT record holds at most this many octets (RFC 1035 3.3). Values of records are ASCII. */
const MAX_OCTETS = 255

/** Cuts the value of a TXT record into the strings that a zone file has. */
export function txtStrings(value: string): string[] {
  const count = Math.ceil(value.length / MAX_OCTETS) || 1
  return Array.from({ length: count }, (_, at) => value.slice(at * MAX_OCTETS, (at + 1) * MAX_OCTETS))
}

/** The value of a TXT record as a zone file has it (RFC 1035 5.1): strings in quotation marks. */
export function quotedStrings(value: string): string {
  return txtStrings(value)
    .map((part) => `"${part.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`)
    .join(' ')
}
