import { invalidParameter } from '@postrider/core'
import { CommandError } from '../command.ts'
import { reportNotImported } from './counterparts.ts'
import { moveGroups } from './groups.ts'
import type { Move } from './move.ts'
import { moveSuppressions } from './suppressions.ts'
import { moveTemplates } from './templates.ts'

export { BOUNDS, type Bounds, baseUrl, openSource, type Source, SourceError } from './source.ts'

/** The parts that can be imported, in the order of the import. */
export const PARTS = ['groups', 'templates', 'suppressions'] as const
export type Part = (typeof PARTS)[number]

const MOVES = { groups: moveGroups, templates: moveTemplates, suppressions: moveSuppressions } as const

/**
 * Imports these parts into the account. Ids are kept and identical objects are skipped, so a failed import can simply be run again.
 *
 * Throws SourceError, CommandError if another import into the account runs, and parameterInvalid (account) if the account does not exist.
 */
export async function importAccount(move: Move, parts: readonly Part[]): Promise<void> {
  const account = await move.core.accounts.find(move.accountId)
  if (!account || account.state === 'deleted') throw invalidParameter('account', 'account not found')
  const run = async (): Promise<void> => {
    for (const part of PARTS.filter((one) => parts.includes(one))) await MOVES[part](move)
    await reportNotImported(move, parts)
    move.progress.end()
  }
  if (move.dryRun) return run()
  const other = await move.core.accounts.importAlone(move.accountId, run)
  if (other === undefined) return
  const from = other.address === null ? '' : `, from ${other.address}`
  throw new CommandError(
    `an import into account ${move.accountId} has been running since ${other.since.toISOString()}${from}; nothing was imported`,
  )
}
