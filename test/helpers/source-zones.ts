import { reversed, reverseName } from '../../packages/core/src/delivery/sources/checks/reverse-name.ts'
import type { DnsServer } from './dns.ts'

/** The lists of the default of BLOCK_LISTS. */
export const LISTS = [
  'zen.spamhaus.org',
  'b.barracudacentral.org',
  'bl.spamcop.net',
  'bl.mailspike.net',
  'psbl.surriel.com',
]

/** Block lists that have their test entry and nothing else. */
export function publishLists({ zones }: DnsServer, lists: readonly string[] = LISTS): void {
  for (const list of lists) zones[`2.0.0.127.${list}`] = { a: ['127.0.0.2'] }
}

/** The records of an address: its name, and back. */
export function publishSource({ zones }: DnsServer, address: string, helo: string): void {
  zones[reverseName(address)] = { ptr: [helo] }
  zones[helo] = address.includes(':') ? { ...zones[helo], aaaa: [address] } : { ...zones[helo], a: [address] }
}

/** Lists an address; without codes, removes it. */
export function list({ zones }: DnsServer, address: string, zone: string, ...codes: string[]): void {
  const name = `${reversed(address)}.${zone}`
  if (codes.length === 0) delete zones[name]
  else zones[name] = { a: codes }
}
