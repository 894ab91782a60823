import type { CheckPurpose, Listing, RecordCheck, SourceStatus } from '@postrider/core'
import { table } from '../table.ts'

/** The status of a source that no worker has checked yet. */
export const NOT_CHECKED: SourceStatus = { records: [], checkedAt: null, listings: [] }

/** Maximum number of block lists that are named in a cell. */
const MAX_NAMES = 2

export const PURPOSES: Readonly<Record<CheckPurpose, string>> = {
  reverse: 'PTR and back',
  reverseHelo: 'PTR is HELO',
  helo: 'HELO',
  spf: 'SPF',
  returnPath: 'return path',
  tracking: 'tracked links',
  reports: 'DMARC reports',
  dkim: 'DKIM of the operator',
}

/** Both tables: records, and block lists. */
export function statusText({ records, listings }: SourceStatus): string {
  const checks = recordTable(records)
  if (listings.length === 0) return `${checks}\n\nnot looked up in block lists`
  const rows = listings.map(({ list, address, state, codes, since, problem }) => [
    list,
    address,
    state,
    codes.join(' '),
    since,
    problem,
  ])
  return `${checks}\n\n${table(['block list', 'address', 'state', 'codes', 'since', 'problem'], rows)}`
}

/** The records that are wrong and the listings of a source, one line each. */
export function warningsOf(name: string, { records, listings }: SourceStatus): string[] {
  const wrong = records
    .filter(isWrong)
    .map(({ type, host, expected, problem }) => `${type} ${host}: ${problem}; expected ${expected}`)
  const listed = listings
    .filter(isListed)
    .map(({ list, address, codes }) => `${list} has ${address} (${codes.join(', ')})`)
  return [...wrong, ...listed].map((text) => `warning: ${name}: ${text}`)
}

export function recordsInBrief({ records }: SourceStatus): string {
  if (records.length === 0) return 'not checked yet'
  const wrong = new Set(records.filter(isWrong).map(({ purpose }) => PURPOSES[purpose]))
  if (wrong.size > 0) return `wrong: ${[...wrong].join(', ')}`
  if (records.every(({ state }) => state === 'skipped')) return 'not checked'
  return records.some(({ state }) => state === 'unknown') ? 'unknown' : 'right'
}

export function listingsInBrief({ listings }: SourceStatus): string {
  if (listings.length === 0) return 'not checked'
  const worst = (['listed', 'policy', 'unknown'] as const).find((state) => listings.some((one) => one.state === state))
  if (worst === undefined) return 'clean'
  const names = [...new Set(listings.filter(({ state }) => state === worst).map(({ list }) => list))]
  const others = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : ''
  return `${worst}: ${names.slice(0, MAX_NAMES).join(', ')}${others}`
}

export function recordTable(records: readonly RecordCheck[]): string {
  const rows = records.map(({ purpose, type, host, expected, found, state, problem }) => {
    return [PURPOSES[purpose], type, host, expected, found.join(', '), state, problem]
  })
  return table(['check', 'type', 'record', 'expected', 'found', 'state', 'problem'], rows, {
    whole: ['record', 'expected'],
  })
}

export function isWrong({ state }: RecordCheck): boolean {
  return state === 'wrong' || state === 'missing'
}

function isListed({ state }: Listing): boolean {
  return state === 'listed'
}
