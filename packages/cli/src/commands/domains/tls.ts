import { type DomainTls, parseDomain, type TlsRule } from '@postrider/core'
import { type Command, UsageError } from '../../command.ts'
import { table } from '../../table.ts'
import { coreCommand } from '../core-command.ts'

/** The word for all domains. */
const ALL_DOMAINS = 'all'

export const tlsCommands: readonly Command[] = [
  coreCommand({
    name: 'tls set',
    usage: 'DOMAIN|all required|verified|dane|none [--account ID]',
    summary: "Demand TLS of a recipient's domain, or of all, before it gets mail",
    detail:
      'required: TLS; verified: with a valid certificate; dane: with TLSA records; none removes the rule. Mail waits until the ' +
      'demand can be met. Takes effect within 2 seconds',
    parameters: { account: 'Only for mail of the account with this number' },
    examples: ['tls set bank.example verified'],
    prepare: ({ 'DOMAIN|all': name, 'required|verified|dane|none': level, account: accountId = null }) => {
      const domain = domainOf(name)
      return async (core) => {
        const rule = await core.tls.set({ accountId, domain }, level)
        const of = `${accountId === null ? 'mail' : `mail of account ${accountId}`} to ${rule.domain ?? 'all domains'}`
        const text = rule.level === 'none' ? `no rule for ${of}` : `${of} demands TLS: ${rule.level}`
        return { data: rule, text }
      }
    },
  }),
  coreCommand({
    name: 'tls show',
    usage: 'DOMAIN',
    summary: "Show what is demanded for mail to a recipient's domain",
    detail: 'Shows also its MTA-STS policy as last fetched, and its mail hosts with their TLSA records',
    prepare: ({ DOMAIN: name }) => {
      const domain = domainOf(name)
      if (domain === null) throw new UsageError('"tls list" lists the rules for all domains')
      return async (core) => {
        const shown = await core.tls.show(domain)
        return { data: shown, text: domainText(shown) }
      }
    },
  }),
  coreCommand({
    name: 'tls list',
    usage: '[--limit N]',
    summary: 'List what is demanded of recipients, by domain and account',
    run: async (core, { limit }) => {
      const rules = await core.tls.list({ limit })
      return { data: { rules }, text: rules.length === 0 ? 'no TLS rules' : rulesText(rules) }
    },
  }),
]

/** The domain; null if all. Throws {@link UsageError}. */
function domainOf(word: string): string | null {
  if (word === ALL_DOMAINS) return null
  const domain = parseDomain(word)
  if (domain === undefined) throw new UsageError(`"${word}" is not a valid domain name such as example.com`)
  return domain
}

function domainText({ rules, policy, isInEffect, hosts, dnssec }: DomainTls): string {
  const fitting = (isListed: boolean | null): string => (isListed === null ? '' : isListed ? 'listed' : 'not listed')
  return [
    rules.length === 0 ? 'no TLS rules' : rulesText(rules),
    '',
    ...policyLines(policy, isInEffect),
    DNSSEC_TEXT[dnssec],
    '',
    hosts === null
      ? 'the MX records are not known'
      : table(
          ['mail host', 'MTA-STS', 'DANE'],
          hosts.map((host) => [host.host, fitting(host.isListed), daneText(host)]),
        ),
  ].join('\n')
}

const DNSSEC_TEXT: Readonly<Record<DomainTls['dnssec'], string>> = {
  unset: 'DANE is not used: DNSSEC_RESOLVER is not set, or DELIVERY is not mx',
  'does-not': 'DANE is not used: DNSSEC_RESOLVER does not validate',
  silent: 'DNSSEC_RESOLVER does not answer: mail waits until it does',
  validates: 'DNSSEC_RESOLVER validates',
}

function daneText({ dane, daneProblem, records }: NonNullable<DomainTls['hosts']>[number]): string {
  if (dane === 'usable') return `TLSA ${records.map(shortened).join(', ')}`
  if (dane === 'unusable') return 'no usable TLSA record: TLS is required'
  return daneProblem ?? (dane === 'none' ? 'no TLSA records' : '')
}

/** A TLSA record with the beginning of its data. */
function shortened(record: string): string {
  const [usage, selector, matching, data = ''] = record.split(' ')
  return `${usage} ${selector} ${matching} ${data.slice(0, 16)}${data.length > 16 ? '…' : ''}`
}

function policyLines(policy: DomainTls['policy'], isInEffect: boolean): string[] {
  if (!policy) return ['no MTA-STS policy was fetched']
  const { mode, mx, expiresAt, error } = policy
  const until = expiresAt ? ` until ${expiresAt.toISOString()}` : ''
  return [
    isInEffect ? `MTA-STS: ${mode}${until}, hosts ${mx.join(', ')}` : 'no MTA-STS policy is in effect',
    ...(error === null ? [] : [`the last fetch failed: ${error}`]),
  ]
}

function rulesText(rules: readonly TlsRule[]): string {
  const rows = rules.map(({ domain, accountId, level }) => [domain ?? ALL_DOMAINS, accountId ?? 'all', level])
  return table(['domain', 'account', 'TLS'], rows)
}
