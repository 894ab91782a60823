import type { DmarcGroup } from './report-reading.ts'

/** Groups that keep their addresses, and then groups without; beyond that, one with the rest. */
const MAX_GROUPS = 2000

/** Adds up the records of a report that have the same results. */
export interface Groups {
  add(row: DmarcGroup): void
  /** Returns the largest groups first. Those beyond a limit are added up without their addresses. */
  largest(): DmarcGroup[]
}

export function createGroups(): Groups {
  const groups = new Map<string, DmarcGroup>()
  return {
    add: (row) => addTo(groups, row),
    largest() {
      const sorted = largestFirst(groups)
      const rest = new Map<string, DmarcGroup>()
      for (const group of sorted.slice(MAX_GROUPS)) addTo(rest, { ...group, sourceIp: null })
      const others = largestFirst(rest)
      const last = new Map<string, DmarcGroup>()
      for (const { count } of others.slice(MAX_GROUPS)) addTo(last, { ...NOTHING_KNOWN, count })
      return [...sorted.slice(0, MAX_GROUPS), ...others.slice(0, MAX_GROUPS), ...last.values()]
    },
  }
}

const NOTHING_KNOWN: Omit<DmarcGroup, 'count'> = {
  sourceIp: null,
  headerFrom: '',
  disposition: 'other',
  dkim: false,
  spf: false,
  signedBy: [],
  spfDomain: '',
}

function addTo(groups: Map<string, DmarcGroup>, row: DmarcGroup): void {
  const { sourceIp, headerFrom, disposition, dkim, spf, signedBy, spfDomain } = row
  const key = [sourceIp, headerFrom, disposition, dkim, spf, signedBy.join(), spfDomain].join('|')
  const group = groups.get(key)
  groups.set(key, group ? { ...group, count: group.count + row.count } : row)
}

function largestFirst(groups: ReadonlyMap<string, DmarcGroup>): DmarcGroup[] {
  return [...groups.values()].sort((a, b) => b.count - a.count)
}
