import { type Command, requiredId, textOption } from '../command.ts'

export const statsCommands: readonly Command[] = [
  {
    name: 'stats recount',
    usage: '--account NUMBER [--from DAY] [--to DAY]',
    summary: "count an account's statistics anew from its events, day by day",
    options: { account: { type: 'string' }, from: { type: 'string' }, to: { type: 'string' } },
    run: (call) => {
      const accountId = requiredId(call, 'account')
      const [first, last] = [textOption(call, 'from'), textOption(call, 'to')]
      return call.withCore(async (core) => {
        let days = 0
        const span = await core.stats.recount({ accountId, first, last, onDay: () => days++ })
        const text = span
          ? `${days} days of account ${accountId} counted anew, ${span.first} to ${span.last}`
          : `account ${accountId} has no events`
        return { data: { accountId, days, ...span }, text }
      })
    },
  },
]
