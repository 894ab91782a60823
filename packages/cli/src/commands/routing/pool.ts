import { CLASS_PROBLEM, classOf, DELIVERY_CLASSES, type Egress, isClassName } from '@postrider/core'
import {
  type Answer,
  type Call,
  type Command,
  requiredId,
  requiredText,
  requiredWord,
  textOption,
  UsageError,
  wholeOption,
} from '../../command.ts'
import { table } from '../../table.ts'
import { removeCommand } from '../remove-command.ts'

export const poolCommands: readonly Command[] = [
  {
    name: 'pool list',
    usage: '',
    summary: 'List the pools of source addresses, and the rules that choose a pool, in their order',
    run: (call) => call.withCore(async (core) => listOf(await core.sources.read())),
  },
  {
    name: 'pool add',
    usage: 'NAME [--fallback POOL] [--reserved]',
    summary: 'Create a pool',
    parameters: {
      fallback: 'Pool that sends if no source of this one can',
      reserved: 'Only rules choose it; otherwise messages may name it (ip_pool_name)',
    },
    examples: ['pool add bulk --fallback default'],
    run: (call) => {
      const name = requiredWord(call, 'name')
      const settings = { fallback: textOption(call, 'fallback'), isReserved: call.options.reserved === true }
      return call.withCore(async (core) => {
        const pool = await core.sources.addPool(name, settings)
        return { data: { pool }, text: `pool ${name} created; add addresses with "source add --pool ${name}"` }
      })
    },
  },
  {
    name: 'pool set',
    usage: 'NAME [--fallback POOL|none] [--reserved yes|no]',
    summary: 'Change the fallback of a pool, or whether only rules choose it',
    parameters: { fallback: 'Pool that sends if no source of this one can', reserved: 'Whether only rules choose it' },
    run: (call) => {
      const name = requiredWord(call, 'name')
      const [fallback, isReserved] = [textOption(call, 'fallback'), yesOrNo(call, 'reserved')]
      if (fallback === undefined && isReserved === undefined)
        throw new UsageError('--fallback or --reserved is required')
      return call.withCore(async (core) => {
        const pool = await core.sources.changePool(name, {
          fallback: fallback === 'none' ? null : fallback,
          isReserved,
        })
        return { data: { pool }, text: `pool ${name} changed` }
      })
    },
  },
  removeCommand({
    kind: 'pool',
    summary: 'Remove a pool that has no sources and that no rule or other pool uses',
    remove: (core, name) => core.sources.removePool(name),
  }),
  {
    name: 'pool rule add',
    usage: 'POOL [--account ID] [--class CLASS] [--domain DOMAIN] [--tag TAG] [--position N]',
    summary: 'Send the mail that meets all given conditions from a pool',
    detail: 'The first rule that applies counts. A new one comes last, unless a position is given',
    parameters: { domain: 'Sending domain', position: 'Position among the rules, from 1' },
    examples: ['pool rule add bulk --class bulk'],
    run: (call) => {
      const rule = {
        pool: requiredWord(call, 'pool'),
        accountId: textOption(call, 'account') === undefined ? undefined : requiredId(call, 'account'),
        class: classOption(call),
        sendingDomain: textOption(call, 'domain'),
        tag: textOption(call, 'tag'),
        position: wholeOption(call, 'position'),
      }
      return call.withCore(async (core) => {
        const added = await core.sources.addRule(rule)
        return { data: { rule: added }, text: `rule ${added.id} added` }
      })
    },
  },
  {
    name: 'pool rule remove',
    usage: '--rule ID',
    summary: 'Remove a rule that chooses a pool',
    parameters: { rule: 'Number of the rule; "postrider pool list" shows them' },
    run: (call) => {
      const id = requiredId(call, 'rule')
      return call.withCore(async (core) => {
        await core.sources.removeRule(id)
        return { data: { removed: id }, text: `rule ${id} removed` }
      })
    },
  },
]

function classOption(call: Call) {
  if (textOption(call, 'class') === undefined) return undefined
  const text = requiredText(call, 'class')
  if (!isClassName(text)) throw new UsageError(`--class ${CLASS_PROBLEM} (got "${text}")`)
  return classOf(text)
}

/** Throws {@link UsageError}. */
function yesOrNo(call: Call, name: string): boolean | undefined {
  const text = textOption(call, name)
  if (text !== undefined && text !== 'yes' && text !== 'no') throw new UsageError(`--${name} must be yes or no`)
  return text === undefined ? undefined : text === 'yes'
}

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
    poolRows.length === 0 ? 'no pools' : table(['pool', 'sources', 'fallback', 'reserved'], poolRows),
    ...(ruleRows.length === 0 ? [] : ['', table(['rule', 'account', 'class', 'domain', 'tag', 'pool'], ruleRows)]),
  ]
  return { data: { pools, rules }, text: sections.join('\n') }
}
