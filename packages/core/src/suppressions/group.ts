import type { Actor } from '../accounts/audit/index.ts'
import { invalidParameter } from '../platform/errors.ts'
import type { COUNTED } from './suppression.ts'

/** A kind of mail that recipients can unsubscribe from separately. */
export interface UnsubscribeGroup {
  /** Number within the account, used by messages. */
  readonly id: number
  readonly name: string
  readonly description: string
  readonly isDefault: boolean
}

export interface CountedGroup extends UnsubscribeGroup {
  /** Number of unsubscribes, counted up to {@link COUNTED}. */
  readonly unsubscribes: number
}

export interface NewGroup {
  readonly name: string
  readonly description: string
  readonly isDefault: boolean
  /** Number from another installation. If omitted, the next one. */
  readonly id?: number | undefined
}

export interface GroupAct {
  readonly accountId: number
  readonly id: number
  /** The operator if omitted. */
  readonly by?: Actor | undefined
}

export const GROUP_LIMITS = { name: 30, description: 100, groups: 200 } as const
export const MAX_GROUP_ID = 2_147_483_647

export function isGroupId(id: number): boolean {
  return Number.isInteger(id) && id >= 1 && id <= MAX_GROUP_ID
}

/** Returns the texts trimmed. Throws parameterInvalid (name, description). */
export function validateGroup(group: Pick<NewGroup, 'name' | 'description'>): { name: string; description: string } {
  const text = (parameter: 'name' | 'description', min: number): string => {
    const clean = group[parameter].trim()
    const max = GROUP_LIMITS[parameter]
    if (clean.length < min || clean.length > max || /\p{Cc}/u.test(clean)) {
      throw invalidParameter(parameter, `must have ${min} to ${max} characters and no control characters`)
    }
    return clean
  }
  return { name: text('name', 1), description: text('description', 0) }
}
