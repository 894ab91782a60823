import {
  type Core,
  type LimitInEffect,
  OVERVIEW_LIMIT,
  PAUSE_SECONDS,
  type PlaceDetails,
  readDuration,
} from '@postrider/core'
import { type Command, CommandError } from '../../command.ts'
import { table } from '../../table.ts'
import { requireAccount } from '../account-option.ts'
import { coreCommand } from '../core-command.ts'
import { bounded, rateText } from './queue-format.ts'
import { refusedHere } from './refused.ts'

/** Accounts shown without --json. */
const MAX_ACCOUNTS = 20

export const queueDestinationCommands: readonly Command[] = [
  coreCommand({
    name: 'queue show',
    usage: 'PLACE',
    summary: 'Show a provider or site: limits, connections, rules that applied, what it refused, waiting mail',
    examples: ['queue show google'],
    run: async (core, { PLACE: destination }) => {
      const details = await core.queue.destination(destination)
      if (!details) throw (await recipientDomain(core, destination)) ?? destinationNotFound(destination)
      return { data: details, text: textOf(details, (await core.serviceTime.show()).now) }
    },
  }),
  coreCommand({
    name: 'queue pause',
    usage: 'PLACE --reason TEXT [--account ID] [--for DURATION]',
    summary: 'Offer no mail to a provider or site, or none of one account; it waits',
    detail: 'Takes effect within 2 seconds',
    parameters: { for: 'Duration (default 24h, at most 30d)' },
    examples: ['queue pause google --reason "asked by the provider" --for 2h'],
    prepare: ({ PLACE: destination, reason, account, for: duration }) => {
      const accountId = account ?? null
      const seconds = duration === undefined ? PAUSE_SECONDS.usual : readDuration('for', duration)
      return async (core) => {
        await requireAccount(core, account)
        const paused = await core.queue.pause({ place: destination, accountId, seconds, reason })
        const { known, until, replaced } = paused
        const lines = [
          `paused ${nameOf(destination, accountId)} until ${until.toISOString()}`,
          replaced &&
            `this replaces the pause until ${replaced.until.toISOString()} with the reason: ${replaced.reason}`,
          !known && `no provider, and no site with waiting mail, is called ${destination}; "queue" lists them`,
        ]
        return { data: paused, text: lines.filter(Boolean).join('\n') }
      }
    },
  }),
  coreCommand({
    name: 'queue resume',
    usage: 'PLACE [--account ID] [--rules]',
    summary: 'End the pause that the operator set for a provider or site',
    parameters: { rules: 'Also end all limits that back-off rules have set there' },
    run: async (core, { PLACE: destination, rules, account: accountId = null }) => {
      const ended = await core.queue.resume({ place: destination, accountId }, { rules })
      if (ended.length > 0) {
        return {
          data: { place: destination, accountId, ended },
          text: `resumed ${nameOf(destination, accountId)}: ended ${ended.join(', ')}`,
        }
      }
      const others = rules ? '' : '; --rules also ends the limits of back-off rules'
      throw new CommandError(`${nameOf(destination, accountId)} is not paused by the operator${others}`)
    },
  }),
]

/** The error for the name of a recipient domain whose mail waits; undefined for any other name. */
async function recipientDomain({ queue }: Core, name: string): Promise<CommandError | undefined> {
  const { groups } = await queue.overview({ by: 'domain', limit: OVERVIEW_LIMIT.most })
  const group = groups.find((one) => one.name === name.toLowerCase())
  if (!group) return undefined
  return new CommandError(
    `"${name}" is a domain of recipients, and no provider or site: ${bounded(group.due)} deliveries to it are due and ${bounded(group.later)} later. ` +
      'A site is named after the hosts that receive the mail; "queue" lists them, and "message why ID" says where a message waits',
  )
}

export function destinationNotFound(destination: string): CommandError {
  return new CommandError(
    `no mail waits for "${destination}" or was refused there, and no provider has this name; ` +
      '"provider list" lists the providers, "queue" those and the sites with waiting or refused mail',
  )
}

function nameOf(destination: string, accountId: number | null): string {
  return accountId === null ? destination : `${destination} for account ${accountId}`
}

function textOf(details: PlaceDetails, now: Date): string {
  const { place, isProvider, ofSources, limits, overrides, slots, ruleHits, refused, due, later, parked, sample } =
    details
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
        rule,
        setting,
        accountId ?? 'all',
        since,
        until,
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
    ...refusedHere(refused, now.getTime()),
    ...(due.count + later.count > 0
      ? section(['tried there last: due', 'later'], [[bounded(due), bounded(later)]])
      : []),
    ...section(
      ['account', 'parked'],
      parked.slice(0, MAX_ACCOUNTS).map((one) => [one.accountId, bounded(one)]),
    ),
    ...(parked.length > MAX_ACCOUNTS ? [`${parked.length - MAX_ACCOUNTS} more accounts; --json has them`] : []),
    ...section(
      ['message', 'no', 'account', 'recipient', 'attempts', 'waits for', 'expires'],
      sample.map((one) => [
        one.messageId,
        one.recipientNo,
        one.accountId,
        one.recipient,
        one.attempts,
        one.waitingFor,
        one.expiresAt,
      ]),
    ),
  ].join('\n')
}

function valueText({ value }: LimitInEffect): string {
  if (value === null) return ''
  return typeof value === 'number' ? String(value) : rateText(value)
}
