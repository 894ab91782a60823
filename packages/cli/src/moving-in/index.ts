import { invalidParameter } from '@postrider/core'
import { tellLeftBehind } from './counterparts.ts'
import { moveGroups } from './groups.ts'
import type { Move } from './move.ts'
import { moveSuppressions } from './suppressions.ts'
import { moveTemplates } from './templates.ts'

export { BOUNDS, type Bounds, baseUrl, openSource, type Source, SourceError } from './source.ts'

/** What can be copied, in the order in which it is. */
export const PARTS = ['groups', 'templates', 'suppressions'] as const
export type Part = (typeof PARTS)[number]

const MOVES = { groups: moveGroups, templates: moveTemplates, suppressions: moveSuppressions } as const

/**
 * Copies these parts into the account. Ids are kept, and what is here and the same is passed over: after a failure it is simply
 * run again.
 *
 * Throws SourceError, and parameterInvalid (account) when there is none.
 */
export async function moveIn(move: Move, parts: readonly Part[]): Promise<void> {
  const account = (await move.core.accounts.list()).find(({ id }) => id === move.accountId)
  if (!account || account.state === 'deleted') throw invalidParameter('account', 'there is no such account')
  for (const part of PARTS.filter((one) => parts.includes(one))) await MOVES[part](move)
  await tellLeftBehind(move, parts)
  move.progress.end()
}
