import { ConfigError } from './config-error.ts'

/** A source address is looked up in each of them. */
const MAX_LISTS = 20

/** The zones of DNS block lists; undefined if the setting is empty, so that the built-in lists are used. */
export function blockLists(text: string | undefined): string[] | undefined {
  if (!text) return undefined
  if (text.trim().toLowerCase() === 'none') return []
  const zones = text
    .split(',')
    .map((zone) => zone.trim().toLowerCase())
    .filter(Boolean)
  const isZone = (zone: string) => zone.length <= 180 && zone.includes('.') && zone.split('.').every(isLabel)
  if (zones.length === 0 || zones.length > MAX_LISTS || !zones.every(isZone))
    throw new ConfigError('BLOCK_LISTS', `must be none, or a comma-separated list of 1 to ${MAX_LISTS} DNS zones`)
  return [...new Set(zones)]
}

export function spamhausKey(text: string | undefined): string | undefined {
  if (!text) return undefined
  if (!isLabel(text.toLowerCase()))
    throw new ConfigError('SPAMHAUS_KEY', "must be a key of Spamhaus' Data Query Service: letters and digits")
  return text.toLowerCase()
}

function isLabel(text: string): boolean {
  return /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(text)
}
