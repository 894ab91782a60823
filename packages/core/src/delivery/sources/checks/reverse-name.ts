import { isIP } from 'node:net'

/** The host of an address's PTR record (RFC 1035 3.5, RFC 3596 2.5). */
export function reverseName(address: string): string {
  return `${reversed(address)}.${isIP(address) === 6 ? 'ip6' : 'in-addr'}.arpa`
}

/** The labels of an address in reverse order, below which a block list has its entry (RFC 5782 2.1, 2.4). */
export function reversed(address: string): string {
  const labels = isIP(address) === 6 ? nibbles(address) : address.split('.')
  return labels.toReversed().join('.')
}

function nibbles(address: string): string[] {
  const [head = '', tail] = hexadecimal(address).split('::')
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'))
  const [before, after] = [groups(head), groups(tail ?? '')]
  const zeros = Array<string>(8 - before.length - after.length).fill('0')
  return [...before, ...zeros, ...after].flatMap((group) => [...group.padStart(4, '0')])
}

/** Without a part in dotted decimals, as in ::ffff:192.0.2.1. */
function hexadecimal(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1)
}
