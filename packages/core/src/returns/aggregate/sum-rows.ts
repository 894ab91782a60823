import type { DmarcGroup } from './read/report-reading.ts'

/** A group, and whether this service has sent its messages. */
export interface OwnedGroup extends DmarcGroup {
  readonly ours: boolean
}

/** A row as it is stored. In the row with the rest, all is null but the count. */
export interface StoredRow {
  readonly no: number
  readonly count: number
  readonly source_ip: string | null
  readonly disposition: string | null
  readonly dkim: boolean | null
  readonly spf: boolean | null
  readonly header_from: string | null
  readonly ours: boolean | null
}

/** Adds up groups that differ only by what is not stored; the largest first, and the smallest beyond `limit` in the last row. */
export function sumRows(groups: readonly OwnedGroup[], limit: number): StoredRow[] {
  const rows = new Map<string, Omit<StoredRow, 'no'>>()
  for (const { sourceIp, disposition, dkim, spf, headerFrom, ours, count } of groups) {
    const key = [sourceIp, disposition, dkim, spf, headerFrom, ours].join('|')
    const before = rows.get(key)?.count ?? 0
    rows.set(key, {
      source_ip: sourceIp,
      disposition,
      dkim,
      spf,
      header_from: headerFrom,
      ours,
      count: before + count,
    })
  }
  const sorted = [...rows.values()].sort((a, b) => b.count - a.count)
  const kept = sorted.length <= limit ? sorted : [...sorted.slice(0, limit - 1), restOf(sorted.slice(limit - 1))]
  return kept.map((row, no) => ({ no, ...row }))
}

function restOf(rows: readonly Pick<StoredRow, 'count'>[]): Omit<StoredRow, 'no'> {
  const count = rows.reduce((sum, row) => sum + row.count, 0)
  return { count, source_ip: null, disposition: null, dkim: null, spf: null, header_from: null, ours: null }
}
