import type { Core, Credit } from '@postrider/core'
import { type Answer, type Call, type Command, requiredTarget, requiredText, UsageError } from '../command.ts'

const account = { account: { type: 'string' } } as const
const amount = { ...account, amount: { type: 'string' } } as const

/** One credit is one recipient that is queued; an account without a limit sends without end. */
export const creditsCommands: readonly Command[] = [
  {
    name: 'credits show',
    usage: 'ID',
    summary: 'what an account may still send',
    words: 1,
    options: account,
    run: (call) => change(call, (core, id) => core.credits.show(id)),
  },
  {
    name: 'credits limited',
    usage: 'ID --amount NUMBER',
    summary: 'let an account send to so many more recipients and no further',
    words: 1,
    options: amount,
    run: (call) => {
      const credit = wholeNumber(call)
      return change(call, (core, id) => core.credits.limit(id, credit))
    },
  },
  {
    name: 'credits grant',
    usage: 'ID --amount NUMBER',
    summary: 'add to what a limited account may send',
    words: 1,
    options: amount,
    run: (call) => {
      const credit = wholeNumber(call)
      return change(call, (core, id) => core.credits.grant(id, credit))
    },
  },
  {
    name: 'credits unlimited',
    usage: 'ID',
    summary: 'take the limit of an account away',
    words: 1,
    options: account,
    run: (call) => change(call, (core, id) => core.credits.unlimit(id)),
  },
]

function change(call: Call, act: (core: Core, id: number) => Promise<Credit>): Promise<Answer> {
  const id = requiredTarget(call, 'account')
  return call.withCore(async (core) => {
    const credit = await act(core, id)
    return { data: { accountId: id, ...credit }, text: told(id, credit) }
  })
}

function told(id: number, { limited, available, recurring }: Credit): string {
  if (!limited) return `account ${id} has no limit of its own`
  const part = recurring ? `, ${recurring.left} of them until the ${recurring.every} ends` : ''
  return `account ${id} has ${available} credits left${part}`
}

function wholeNumber(call: Call): number {
  const text = requiredText(call, 'amount')
  if (!/^\d{1,13}$/.test(text)) throw new UsageError(`--amount must be a whole number, not "${text}"`)
  return Number(text)
}
