import { CLASS_PROBLEM, classOf, DELIVERY_CLASSES, type Egress, isClassName } from '@postrider/core'
import { type Answer, type Command, CommandError, UsageError } from '../../command.ts'
import { table, tableOr } from '../../table.ts'
import { coreCommand } from '../core-command.ts'
import { removeCommand } from '../remove-command.ts'

export const poolCommands: readonly Command[] = [
  coreCommand({
    name: 'pool list',
    usage: '',
    summary: 'List the pools of source addresses, and the rules that choose a pool, in their order',
    run: async (core) => listOf(await core.sources.read()),
  }),
  coreCommand({
    name: 'pool add',
    usage: 'NAME [--fallback POOL] [--reserved]',
    summary: 'Create a pool',
    parameters: {
      fallback: 'Pool that sends if no source of this one can',
      reserved: 'Only rules choose it; otherwise messages may name it (ip_pool_name)',
    },
    examples: ['pool add bulk --fallback default'],
    run: async ({ sources }, { NAME: name, fallback, reserved: isReserved }) => {
      const pool = await sources.addPool(name, { fallback, isReserved })
      return { data: { pool }, text: `pool ${name} created; add addresses with "source add --pool ${name}"` }
    },
  }),
  coreCommand({
    name: 'pool set',
    usage: 'NAME [--fallback POOL|none] [--reserved yes|no]',
    summary: 'Change the fallback of a pool, or whether only rules choose it',
    parameters: { fallback: 'Pool that sends if no source of this one can', reserved: 'Whether only rules choose it' },
    prepare: ({ NAME: name, fallback, reserved: isReserved }) => {
      if (fallback === undefined && isReserved === undefined)
        throw new UsageError('--fallback or --reserved is required')
      return async ({ sources }) => {
        const pool = await sources.changePool(name, { fallback: fallback === 'none' ? null : fallback, isReserved })
        return { data: { pool }, text: `pool ${name} changed` }
      }
    },
  }),
  removeCommand({
    kind: 'pool',
    summary: 'Remove a pool that has no sources and that no rule or other pool uses',
    list: async (core) => (await core.sources.read()).pools,
    remove: (core, name) => core.sources.removePool(name),
  }),
  coreCommand({
    name: 'pool rule add',
    usage: 'POOL [--account ID] [--class CLASS] [--domain DOMAIN] [--tag TAG] [--position N]',
    summary: 'Send the mail that meets all given conditions from a pool',
    detail: 'The first rule that applies counts. A new one comes last, unless a position is given',
    parameters: { domain: 'Sending domain', position: 'Position among the rules, from 1' },
    examples: ['pool rule add bulk --class bulk'],
    prepare: ({ POOL: pool, account: accountId, domain: sendingDomain, class: name, ...rest }) => {
      if (name !== undefined && !isClassName(name)) throw new UsageError(`--class ${CLASS_PROBLEM} (got "${name}")`)
      const rule = { ...rest, pool, accountId, sendingDomain, class: name && classOf(name) }
      return async ({ sources }) => {
        const added = await sources.addRule(rule)
        return { data: { rule: added }, text: `rule ${added.id} added` }
      }
    },
  }),
  coreCommand({
    name: 'pool rule remove',
    destroys: true,
    usage: '--rule ID',
    summary: 'Remove a rule that chooses a pool',
    parameters: { rule: 'Number of the rule; "postrider pool list" shows them' },
    look: async (core, { rule: id }) => {
      if ((await core.sources.read()).rules.some((one) => one.id === id)) return
      throw new CommandError(`rule ${id} not found; "pool list" shows the rules`)
    },
    run: async (core, { rule: id }) => {
      await core.sources.removeRule(id)
      return { data: { removed: id }, text: `rule ${id} removed` }
    },
  }),
]

function listOf(egress: Egress): Answer {
  const { pools, sources, rules } = egress
  const nameOf = (id: number | null): string => pools.find((pool) => pool.id === id)?.name ?? ''
  const poolRows = pools.map(({ id, name, fallbackId, isReserved }) => [
    name,
    sources
      .filter(({ poolId }) => poolId === id)
      .map((source) => source.name)
      .join(' ') || '(none)',
    nameOf(fallbackId),
    isReserved ? 'yes' : 'no',
  ])
  const ruleRows = rules.map((rule) => [
    rule.id,
    rule.accountId ?? '',
    rule.class === null ? '' : DELIVERY_CLASSES[rule.class],
    rule.sendingDomain ?? '',
    rule.tag ?? '',
    nameOf(rule.poolId),
  ])
  const sections = [
    tableOr('no pools', ['pool', 'sources', 'fallback', 'reserved'], poolRows),
    ...(ruleRows.length === 0 ? [] : ['', table(['rule', 'account', 'class', 'domain', 'tag', 'pool'], ruleRows)]),
  ]
  return { data: { pools, rules }, text: sections.join('\n') }
}
