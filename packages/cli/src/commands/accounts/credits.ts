import type { Core, Credit, HeldCredit } from '@postrider/core'
import type { Answer, Command } from '../../command.ts'
import { table } from '../../table.ts'
import { coreCommand } from '../core-command.ts'

/** A leap year. */
const MAX_DAYS = 366

/** One credit pays for one queued recipient. An account without a limit is not charged. */
export const creditsCommands: readonly Command[] = [
  coreCommand({
    name: 'credits show',
    usage: 'ID',
    summary: "Show an account's remaining credits",
    target: 'account',
    run: async (core, { ID: id }) => toAnswer(core, id, await core.credits.show(id)),
  }),
  coreCommand({
    name: 'credits used',
    usage: 'ID --from DAY --to DAY',
    summary: 'Show the credits that an account used per day; a credit is one recipient',
    parameters: { from: 'First day (UTC), for example 2030-01-31', to: 'Last day (UTC)' },
    examples: ['credits used 12 --from 2030-01-01 --to 2030-01-31'],
    target: 'account',
    run: async ({ credits }, { ID: accountId, from: first, to: last }) => {
      const usage = await credits.usage(accountId, { first, last, limit: MAX_DAYS, offset: 0 })
      const rows = usage.days.map(({ date, used }) => [date, used])
      return {
        data: { accountId, ...usage },
        text: `${usage.used} credits used\n\n${table(['day', 'used'], rows)}`,
      }
    },
  }),
  coreCommand({
    name: 'credits limited',
    usage: 'ID --amount NUMBER',
    summary: 'Limit an account to a number of further recipients',
    parameters: { amount: 'Number of recipients' },
    examples: ['credits limited 12 --amount 10000'],
    target: 'account',
    run: async (core, { ID: id, amount }) => toAnswer(core, id, await core.credits.limit(id, amount)),
  }),
  coreCommand({
    name: 'credits grant',
    usage: 'ID --amount NUMBER',
    summary: 'Add credits to an account with a limit',
    parameters: { amount: 'Number of recipients' },
    target: 'account',
    run: async (core, { ID: id, amount }) => toAnswer(core, id, await core.credits.grant(id, amount)),
  }),
  coreCommand({
    name: 'credits unlimited',
    usage: 'ID',
    summary: "Remove an account's credit limit",
    target: 'account',
    run: async (core, { ID: id }) => toAnswer(core, id, await core.credits.unlimit(id)),
  }),
]

async function toAnswer({ credits }: Core, id: number, credit: Credit): Promise<Answer> {
  const held = await credits.heldBySubaccounts(id)
  return {
    data: { accountId: id, ...credit, heldBySubaccounts: held },
    text: `${creditText(id, credit)}${heldText(held)}`,
  }
}

function creditText(id: number, { limited, available, recurring }: Credit): string {
  if (!limited) return `account ${id} has no credit limit`
  const part = recurring ? `, ${recurring.left} of them valid until the ${recurring.every} ends` : ''
  return `account ${id} has ${available} credits left${part}`
}

function heldText({ subaccounts, available }: HeldCredit): string {
  if (available === 0) return ''
  if (subaccounts === 1) return `\n1 subaccount has ${available} credits of its own besides`
  return `\n${subaccounts} subaccounts have ${available} credits of their own besides`
}
