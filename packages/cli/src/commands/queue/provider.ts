import {
  type BackOffRule,
  type DrainTime,
  drainTimes,
  loadProviders,
  type MessageRate,
  OVERVIEW_LIMIT,
  type Provider,
  type Providers,
} from '@postrider/core'
import { type Answer, type Call, type Command, CommandError, requiredWord } from '../../command.ts'
import { hasEmbeddedDatabase } from '../../installation.ts'
import { table } from '../../table.ts'
import { bounded, duration } from './queue-format.ts'

export const providerCommands: readonly Command[] = [
  {
    name: 'provider list',
    usage: '',
    summary: 'List the mailbox providers with their limits',
    detail: 'They are defined by PROVIDERS_FILE and the built-in file',
    async run({ config }) {
      const providers = loadProviders(config.providersFile)
      const rows = providers.all.map((one) => [one.name, ...cellsOf(limitsOf(one)), one.rules.length, one.mx.join(' ')])
      const heading = ['provider', ...LIMITS, 'rules', 'mx']
      return { data: { providers: providers.all, generalRules: providers.generalRules }, text: table(heading, rows) }
    },
  },
  {
    name: 'provider plan',
    usage: 'FILE',
    summary: 'Check a file of providers, and show what would change if it became PROVIDERS_FILE',
    detail: 'Shows the changes of limits and rules, and how long mail that waits for them would take',
    examples: ['provider plan providers.yaml'],
    async run(call) {
      const planned = loadProviders(requiredWord(call, 'file of providers'), 'FILE')
      const before = loadProviders(call.config.providersFile)
      return planOf({ before, after: planned, drains: await drainTimesOf(call, before, planned) })
    },
  },
]

const LIMITS = ['connections', 'messagesPerConnection', 'rate', 'tls'] as const
type Limits = Readonly<Record<(typeof LIMITS)[number], string>>

interface Change {
  readonly provider: string
  readonly limit: string
  readonly before: string
  readonly after: string
}

const ABSENT = '(none)'

interface Plan {
  readonly before: Providers
  readonly after: Providers
  /** Undefined if no database can be used: a file can be checked without one. */
  readonly drains: readonly DrainTime[] | undefined
}

async function drainTimesOf(call: Call, before: Providers, after: Providers): Promise<DrainTime[] | undefined> {
  const { siteConnections } = call.config
  // A check of a file does not create a database.
  if (!call.env.DATABASE_URL && !hasEmbeddedDatabase(call.config)) return undefined
  try {
    const query = { by: 'provider', limit: OVERVIEW_LIMIT.most } as const
    const { groups } = await call.withCore((core) => core.queue.overview(query))
    return drainTimes({ groups, before, after, siteConnections })
  } catch (error) {
    if (error instanceof CommandError) return undefined
    throw error
  }
}

function planOf({ before, after, drains }: Plan): Answer {
  const names = new Set([...before.all, ...after.all].map(({ name }) => name))
  const changes = [...names].flatMap((name) => changesOf(name, before.named(name), after.named(name)))
  changes.push(...ruleChanges('(all hosts)', before.generalRules, after.generalRules))
  const rows = changes.map((one) => [one.provider, one.limit, one.before, one.after])
  if (changes.length === 0) return { data: { changes, drains }, text: 'the file is valid and changes nothing' }
  const text = [table(['provider', 'limit', 'before', 'after'], rows), ...drainLines(drains)].join('\n')
  return { data: { changes, drains }, text }
}

function drainLines(drains: readonly DrainTime[] | undefined): string[] {
  if (!drains) return ['', 'No database can be used, so it is unknown what waits for these limits.']
  if (drains.length === 0) return []
  const time = (seconds: number | null): string => (seconds === null ? 'unknown' : duration(seconds * 1000))
  const rows = drains.map((one) => [one.place, bounded(one.waiting), time(one.before), time(one.after)])
  return ['', table(['place', 'waiting', 'done in', 'with the file'], rows)]
}

function changesOf(provider: string, before: Provider | undefined, after: Provider | undefined): Change[] {
  if (!after) return [{ provider, limit: 'mx', before: before?.mx.join(' ') ?? ABSENT, after: ABSENT }]
  if (!before) {
    const limits = LIMITS.map((limit) => ({ provider, limit, before: ABSENT, after: limitsOf(after)[limit] }))
    const hosts = { provider, limit: 'mx', before: ABSENT, after: after.mx.join(' ') }
    return [hosts, ...limits, ...ruleChanges(provider, [], after.rules)]
  }
  const [was, is] = [limitsOf(before), limitsOf(after)]
  const changed = LIMITS.filter((limit) => was[limit] !== is[limit])
  const changes = changed.map((limit) => ({ provider, limit, before: was[limit], after: is[limit] }))
  const [hosts, newHosts] = [before.mx.join(' '), after.mx.join(' ')]
  const moved = hosts === newHosts ? [] : [{ provider, limit: 'mx', before: hosts, after: newHosts }]
  return [...changes, ...moved, ...ruleChanges(provider, before.rules, after.rules)]
}

function ruleChanges(provider: string, before: readonly BackOffRule[], after: readonly BackOffRule[]): Change[] {
  const [was, is] = [before, after].map((rules) => new Map(rules.map((rule) => [rule.id, textOf(rule)])))
  const ids = new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])])
  return [...ids]
    .map((id) => ({ provider, limit: `rule ${id}`, before: was?.get(id) ?? ABSENT, after: is?.get(id) ?? ABSENT }))
    .filter((change) => change.before !== change.after)
}

function limitsOf({ connections, messagesPerConnection, rate, tlsRequired }: Provider): Limits {
  return {
    connections: String(connections ?? 'as a site'),
    messagesPerConnection: String(messagesPerConnection ?? 'as a site'),
    rate: rate ? rateText(rate) : ABSENT,
    tls: tlsRequired ? 'required' : 'where offered',
  }
}

function cellsOf(limits: Limits): string[] {
  return LIMITS.map((limit) => limits[limit])
}

const UNITS = { 1: 's', 60: 'min', 3600: 'h' } as const

function rateText({ messages, seconds }: MessageRate): string {
  return `${messages}/${UNITS[seconds]}`
}

/** Such as `"[TSS04]"; 2 in 3600 s: pause for 7200 s`. */
function textOf({ times, within, effect, lasts, scope, reply, enhanced }: BackOffRule): string {
  const amount = 'rate' in effect ? ` ${rateText(effect.rate)}` : 'most' in effect ? ` ${effect.most}` : ''
  const duration = lasts > 0 ? ` for ${lasts} s` : ''
  const condition = [...enhanced, ...reply.map((text) => JSON.stringify(text))].join(', ')
  return `${condition}; ${times} in ${within} s: ${effect.kind}${amount}${duration}${scope === 'account' ? ' (account)' : ''}`
}
