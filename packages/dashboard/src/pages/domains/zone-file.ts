import type { DomainWithRecords } from '@postrider/core'

/** A character-string of a TXT record holds at most this many octets (RFC 1035 3.3). */
const STRING = 255

/** The records of a domain as lines of a zone file (RFC 1035 5.1), for a program that imports them. */
export function zoneFile({ name, dns }: DomainWithRecords): string {
  const lines = dns.map(({ type, host, value }) => {
    const data = type === 'CNAME' ? `${value}.` : quoted(value)
    return `${host}.\t3600\tIN\t${type}\t${data}`
  })
  return `; ${name}\n${lines.join('\n')}\n`
}

function quoted(value: string): string {
  const parts = Array.from({ length: Math.ceil(value.length / STRING) || 1 }, (_, at) =>
    value.slice(at * STRING, (at + 1) * STRING),
  )
  return parts.map((part) => `"${part.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`).join(' ')
}
