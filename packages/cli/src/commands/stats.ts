import { type Command, requiredId, textOption } from '../command.ts'

export const statsCommands: readonly Command[] = [
  {
    name: 'stats recount',
    usage: '--account NUMBER [--from DAY] [--to DAY]',
    summary: "Recompute an account's statistics from its events, day by day",
    parameters: {
      from: 'First day, for example 2030-01-31 (default: that of the first event)',
      to: 'Last day (default: today)',
    },
    examples: ['stats recount --account 12'],
    run: (call) => {
      const accountId = requiredId(call, 'account')
      const [first, last] = [textOption(call, 'from'), textOption(call, 'to')]
      return call.withCore(async (core) => {
        let days = 0
        const range = await core.stats.recount({ accountId, first, last, onDay: () => days++ })
        const text = range
          ? `recomputed ${days} days of account ${accountId}, ${range.first} to ${range.last}`
          : `account ${accountId} has no events`
        return { data: { accountId, days, ...range }, text }
      })
    },
  },
]
