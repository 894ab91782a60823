import { type LimitInEffect, PAUSE_SECONDS, type PlaceDetails, readDuration } from '@postrider/core'
import { type Call, type Command, CommandError, requiredText, requiredWord, textOption } from '../../command.ts'
import { table } from '../../table.ts'
import { accountOption, requireAccount } from '../account-option.ts'
import { bounded, rateText } from './queue-format.ts'

/** Accounts shown without --json. */
const MAX_ACCOUNTS = 20

export const queueDestinationCommands: readonly Command[] = [
  {
    name: 'queue show',
    usage: 'PLACE',
    summary: 'Show a provider or site: limits, connections, rules that applied, parked mail',
    examples: ['queue show gmail'],
    run: (call) => {
      const destination = requiredWord(call, 'place')
      return call.withCore(async (core) => {
        const details = await core.queue.destination(destination)
        if (!details) throw destinationNotFound(destination)
        return { data: details, text: textOf(details) }
      })
    },
  },
  {
    name: 'queue pause',
    usage: 'PLACE --reason TEXT [--account ID] [--for DURATION]',
    summary: 'Offer no mail to a provider or site, or none of one account; it waits',
    detail: 'Takes effect within 2 seconds',
    parameters: { for: 'Duration (default 24h, at most 30d)' },
    examples: ['queue pause gmail --reason "asked by the provider" --for 2h'],
    run: (call) => {
      const destination = requiredWord(call, 'place')
      const reason = requiredText(call, 'reason')
      const accountId = accountOption(call)
      const seconds = durationOption(call, 'for') ?? PAUSE_SECONDS.usual
      return call.withCore(async (core) => {
        await requireAccount(core, accountId)
        const paused = await core.queue.pause({ place: destination, accountId, seconds, reason })
        const { known, until, replaced } = paused
        const instead = replaced
          ? [`this replaces the pause until ${replaced.until.toISOString()} with the reason: ${replaced.reason}`]
          : []
        const note = known
          ? []
          : [`no provider, and no site with waiting mail, is called ${destination}; "queue" lists them`]
        const text = [
          `paused ${nameOf(destination, accountId)} until ${until.toISOString()}`,
          ...instead,
          ...note,
        ].join('\n')
        return { data: paused, text }
      })
    },
  },
  {
    name: 'queue resume',
    usage: 'PLACE [--account ID] [--rules]',
    summary: 'End the pause that the operator set for a provider or site',
    parameters: { rules: 'Also end all limits that back-off rules have set there' },
    run: (call) => {
      const destination = requiredWord(call, 'place')
      const accountId = accountOption(call)
      const rules = call.options.rules === true
      return call.withCore(async (core) => {
        const ended = await core.queue.resume({ place: destination, accountId }, { rules })
        if (ended.length > 0) {
          return {
            data: { place: destination, accountId, ended },
            text: `resumed ${nameOf(destination, accountId)}: ended ${ended.join(', ')}`,
          }
        }
        const others = rules ? '' : '; --rules also ends the limits of back-off rules'
        throw new CommandError(`${nameOf(destination, accountId)} is not paused by the operator${others}`)
      })
    },
  },
]

export function destinationNotFound(destination: string): CommandError {
  return new CommandError(`no provider or site "${destination}"; "queue" lists those with waiting mail`)
}

function nameOf(destination: string, accountId: number | null): string {
  return accountId === null ? destination : `${destination} for account ${accountId}`
}

/** Seconds. Throws parameterInvalid. */
function durationOption(call: Call, name: string): number | undefined {
  const text = textOption(call, name)
  return text === undefined ? undefined : readDuration(name, text)
}

function textOf(details: PlaceDetails): string {
  const { place, isProvider, ofSources, limits, overrides, slots, ruleHits, parked, sample } = details
  const section = (heading: readonly string[], rows: unknown[][]): string[] =>
    rows.length > 0 ? ['', table(heading, rows)] : []
  return [
    `${isProvider ? 'provider' : 'site'} ${place}`,
    ...(ofSources.length > 0 ? [`of single sources, see also: ${ofSources.join(', ')}`] : []),
    ...section(
      ['limit', 'value', 'account', 'from', 'until'],
      limits.map((one) => [one.setting, valueText(one), one.accountId ?? 'all', one.from, one.until]),
    ),
    ...section(
      ['rule', 'sets', 'account', 'since', 'until', 'reason'],
      overrides.map(({ rule, setting, accountId, since, until, reason }) => [
        ...[rule, setting, accountId ?? 'all', since, until],
        reason,
      ]),
    ),
    ...section(
      ['worker', 'host', 'pid', 'connections'],
      slots.map(({ workerId, host, pid, used }) => [workerId, host, pid, used]),
    ),
    ...section(
      ['rule', 'account', 'hits of the last hour'],
      ruleHits.map(({ rule, accountId, hits }) => [rule, accountId ?? 'all', hits]),
    ),
    ...section(
      ['account', 'parked'],
      parked.slice(0, MAX_ACCOUNTS).map((one) => [one.accountId, bounded(one)]),
    ),
    ...(parked.length > MAX_ACCOUNTS ? [`${parked.length - MAX_ACCOUNTS} more accounts; --json has them`] : []),
    ...section(
      ['message', 'no', 'account', 'recipient', 'attempts', 'waits for', 'expires'],
      sample.map((one) => [
        ...[one.messageId, one.recipientNo, one.accountId, one.recipient, one.attempts, one.waitingFor],
        one.expiresAt,
      ]),
    ),
  ].join('\n')
}

function valueText({ value }: LimitInEffect): string {
  if (value === null) return ''
  return typeof value === 'number' ? String(value) : rateText(value)
}
