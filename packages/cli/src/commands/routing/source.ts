import { type Core, capOf, type Egress, type Source, type SourceChange, type SourceStatus } from '@postrider/core'
import { type Answer, type Command, CommandError, UsageError } from '../../command.ts'
import { listingsInBrief, NOT_CHECKED, recordsInBrief, statusText, warningsOf } from '../../doctor/source-status.ts'
import { table } from '../../table.ts'
import { coreCommand } from '../core-command.ts'
import { removeCommand } from '../remove-command.ts'

export const sourceCommands: readonly Command[] = [
  coreCommand({
    name: 'source list',
    usage: '',
    summary: 'List the addresses that mail is sent from, with the results of their last checks',
    detail: 'Shows also their pools, weights, and how many workers have each',
    run: async (core) => listOf(await core.sources.read(), await core.sourceChecks.read()),
  }),
  coreCommand({
    name: 'source add',
    usage:
      'NAME --address IP --helo HOST [--address6 IP] [--bind IP] [--pool POOL] [--weight N] [--warm-up PLAN] [--force]',
    summary: "Send mail from a further address, which a worker's host must have",
    parameters: {
      address6: 'IPv6 address to send from',
      bind: 'Local address of the source behind NAT',
      helo: 'Host name in HELO',
      pool: 'Name of the pool (default: default, which sends the mail that no rule concerns)',
      weight: 'Share of the mail of its pool, from 1 to 100 (default 10)',
      'warm-up': 'Plan of a new address: standard or gentle; see "source warm"',
      force: 'Also without a PTR record that resolves back to the address',
    },
    examples: ['source add out1 --address 192.0.2.1 --helo out1.ship.example --warm-up standard'],
    run: async (core, { NAME: name, 'warm-up': warmUpPlan, ...rest }) => {
      const added = await core.sources.add({ name, warmUpPlan, ...rest })
      const status = await core.sourceChecks.check(added.name)
      const text = `source ${added.name} added\n\n${statusText(status)}`
      return { data: { source: added, ...status }, text }
    },
  }),
  coreCommand({
    name: 'source check',
    usage: 'NAME',
    summary: 'Check the DNS records of a source, and look it up in block lists, now',
    detail: 'The exit status is 1 if something is wrong',
    run: async (core, { NAME: name }) => {
      const status = await core.sourceChecks.check(name)
      const source = (await core.sources.read()).sources.find((one) => one.name === name)
      const text = `${name}: ${source ? stateOf(source) : 'removed'}\n\n${statusText(status)}`
      const warnings = warningsOf(name, status)
      const failure = warnings.length === 0 ? {} : { failure: `source ${name} needs attention` }
      return { data: { source: name, ...status }, text, ...failure }
    },
  }),
  coreCommand({
    name: 'source set',
    usage: 'NAME [--weight N] [--pool POOL]',
    summary: 'Change the weight or the pool of a source',
    parameters: { weight: 'Share of the mail of its pool, from 1 to 100' },
    prepare: ({ NAME: name, weight, pool }) => {
      if (weight === undefined && pool === undefined) throw new UsageError('--weight or --pool is required')
      return (core) => changed(core, name, { weight, pool }, 'changed')
    },
  }),
  coreCommand({
    name: 'source warm',
    usage: 'NAME --plan standard|gentle|none',
    summary: 'Warm up a new address at each provider',
    detail:
      'standard: 200 messages on the first day, 1.4 times as many on each following day, for 30 days; gentle: 100, 1.25 times, 45 ' +
      'days. A day with refusals or too little mail is repeated. The rest is sent from the others of the pool',
    parameters: { plan: 'Plan, from its first day' },
    examples: ['source warm out1 --plan gentle'],
    run: (core, { NAME: name, plan }) =>
      plan === 'none'
        ? changed(core, name, { warmUpPlan: null }, 'has no limit')
        : changed(core, name, { warmUpPlan: plan }, 'begins with the first day of the plan'),
  }),
  coreCommand({
    name: 'source pause',
    usage: 'NAME --reason TEXT',
    summary: 'Send nothing from an address',
    detail: 'Its mail is sent from the others of its pool, or waits if there are none',
    run: (core, { NAME: name, reason }) => changed(core, name, { pause: reason }, 'paused'),
  }),
  coreCommand({
    name: 'source resume',
    usage: 'NAME',
    summary: 'Send from a paused address again',
    run: async (core, { NAME: name }) => {
      const isPaused = (await core.sources.read()).sources.some((one) => one.name === name && one.isPaused)
      if (!isPaused) throw new CommandError(`source ${name} is not paused`)
      return changed(core, name, { pause: null }, 'resumed')
    },
  }),
  removeCommand({
    kind: 'source',
    summary: 'Remove a source; its mail that waits is sent from the others of its pool',
    list: async (core) => (await core.sources.read()).sources,
    remove: (core, name) => core.sources.remove(name),
  }),
]

async function changed({ sources }: Core, name: string, change: SourceChange, done: string): Promise<Answer> {
  return { data: { source: await sources.change(name, change) }, text: `source ${name} ${done}` }
}

function listOf({ sources, pools }: Egress, statuses: ReadonlyMap<number, SourceStatus>): Answer {
  const poolName = (source: Source): string => pools.find(({ id }) => id === source.poolId)?.name ?? ''
  const rows = sources.map((source) => {
    const status = statuses.get(source.id) ?? NOT_CHECKED
    return [
      source.name,
      [source.address, ...(source.address6 === null ? [] : [source.address6])].join(' '),
      source.helo,
      poolName(source),
      source.weight,
      recordsInBrief(status),
      listingsInBrief(status),
      stateOf(source),
      warmUpOf(source),
    ]
  })
  const data = {
    sources: sources.map((source) => {
      return { ...source, pool: poolName(source), ...(statuses.get(source.id) ?? NOT_CHECKED) }
    }),
  }
  if (rows.length === 0)
    return { data, text: 'no sources: the operating system chooses the address of each connection' }
  const headings = ['source', 'address', 'helo', 'pool', 'weight', 'dns', 'block lists', 'state', 'warm-up']
  const warnings = sources.flatMap(({ id, name }) => warningsOf(name, statuses.get(id) ?? NOT_CHECKED))
  const text = table(headings, rows)
  return { data, text: warnings.length === 0 ? text : `${text}\n\n${warnings.join('\n')}` }
}

function warmUpOf({ warmUpPlan, warmUps }: Source): string {
  if (warmUpPlan === null) return ''
  const at = warmUps.map(({ provider, day, isSpent }) => {
    const cap = capOf(warmUpPlan, day)
    const left = isSpent ? ' (used up for now)' : ''
    return `${provider} ${cap === undefined ? 'done' : `day ${day + 1}: ${cap}/day${left}`}`
  })
  return [warmUpPlan, ...at].join('; ')
}

function stateOf({ isPaused, reason, workers }: Source): string {
  if (isPaused) return `paused: ${reason}`
  if (workers === 0) return 'no running worker has this address'
  return `active, ${workers} ${workers === 1 ? 'worker' : 'workers'}`
}
