import { type BackOffRule, loadProviders, type MessageRate, type Provider, type Providers } from '@postrider/core'
import { type Answer, type Command, requiredWord, table } from '../command.ts'

export const providerCommands: readonly Command[] = [
  {
    name: 'provider list',
    usage: '',
    summary: 'List the mailbox providers with their limits, as PROVIDERS_FILE and the built-in file define them',
    options: {},
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
    summary: 'Check a file of providers, and show the changes of limits and rules if it became PROVIDERS_FILE',
    words: 1,
    options: {},
    async run(call) {
      const planned = loadProviders(requiredWord(call, 'file of providers'), 'FILE')
      return planOf(loadProviders(call.config.providersFile), planned)
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

function planOf(before: Providers, after: Providers): Answer {
  const names = new Set([...before.all, ...after.all].map(({ name }) => name))
  const changes = [...names].flatMap((name) => changesOf(name, before.named(name), after.named(name)))
  changes.push(...ruleChanges('(all hosts)', before.generalRules, after.generalRules))
  const rows = changes.map((one) => [one.provider, one.limit, one.before, one.after])
  const text = table(['provider', 'limit', 'before', 'after'], rows)
  return { data: { changes }, text: changes.length === 0 ? 'the file is valid and changes nothing' : text }
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
