import type { Actor } from '@postrider/core'
import type { UserCall } from './call.ts'

/** The user who operates the installation, for the audit log. */
export function operatorOf({ visitor, address }: UserCall): Actor {
  const role = { sessionId: visitor.sessionId, accountId: null, name: 'operator' }
  return { keyId: null, userId: visitor.user.id, role, address }
}

/** Returns the path of a page of the installation: `operatorPath('queue')` is /app/operator/queue. */
export function operatorPath(below: string, query: Readonly<Record<string, string | number | undefined>> = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  const fields = new URLSearchParams(given as [string, string][]).toString()
  return `/app/operator/${below}${fields === '' ? '' : `?${fields}`}`
}

const MAX_ID = 2_147_483_647

/** Returns the id that a field or a path has; undefined if it is not the number of an account or the like. */
export function idIn(text: string | undefined): number | undefined {
  const id = /^[1-9]\d{0,9}$/.test(text ?? '') ? Number(text) : 0
  return id >= 1 && id <= MAX_ID ? id : undefined
}
