import type { Account, Core } from '@postrider/core'
import { type Call, CommandError, requiredId, textOption } from '../command.ts'

/** Returns the number of the option --account; null without it. Throws {@link UsageError}. */
export function accountOption(call: Call): number | null {
  return textOption(call, 'account') === undefined ? null : requiredId(call, 'account')
}

/** Throws {@link CommandError}. */
export async function requireAccount(core: Core, accountId: number | undefined): Promise<void> {
  if (accountId !== undefined) await findAccount(core, accountId)
}

/** Throws {@link CommandError}. */
export async function findAccount({ accounts }: Core, accountId: number): Promise<Account> {
  const account = await accounts.find(accountId)
  if (!account) throw new CommandError(`account ${accountId} not found; "account list" lists all accounts`)
  return account
}
