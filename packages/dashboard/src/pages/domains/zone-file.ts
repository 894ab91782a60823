import { type DomainWithRecords, quotedStrings } from '@postrider/core'

/** The records of a domain as lines of a zone file (RFC 1035 5.1), for a program that imports them. */
export function zoneFile({ name, dns }: DomainWithRecords): string {
  const lines = dns.map(({ type, host, value }) => {
    const data = type === 'CNAME' ? `${value}.` : quotedStrings(value)
    return `${host}.\t3600\tIN\t${type}\t${data}`
  })
  return `; ${name}\n${lines.join('\n')}\n`
}
