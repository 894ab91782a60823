import { type DomainTls, isTlsDemand, parseDomain, type TlsRule } from '@postrider/core'
import { type Call, type Command, limitOption, requiredWord, table, UsageError } from '../command.ts'
import { accountOption } from './queue-place.ts'

/** The word for all domains. */
const ALL_DOMAINS = 'all'

export const tlsCommands: readonly Command[] = [
  {
    name: 'tls set',
    usage: 'DOMAIN|all required|verified|none [--account ID]',
    summary:
      "Demand TLS, or TLS with a valid certificate, of a recipient's domain (or of all) before it gets mail; none removes the rule. " +
      'Mail waits until the demand can be met. Takes effect within 2 seconds',
    words: 2,
    options: { account: { type: 'string' } },
    run: (call) => {
      const domain = domainOf(call)
      const level = levelOf(call)
      const accountId = accountOption(call)
      return call.withCore(async (core) => {
        const rule = await core.tls.set({ accountId, domain }, level)
        const of = `${accountId === null ? 'mail' : `mail of account ${accountId}`} to ${rule.domain ?? 'all domains'}`
        const text = rule.level === 'none' ? `no rule for ${of}` : `${of} demands TLS: ${rule.level}`
        return { data: rule, text }
      })
    },
  },
  {
    name: 'tls show',
    usage: 'DOMAIN',
    summary:
      "Show what is demanded for mail to a recipient's domain, its MTA-STS policy as last fetched, and its mail hosts",
    words: 1,
    options: {},
    run: (call) => {
      const domain = domainOf(call)
      if (domain === null) throw new UsageError('"tls list" lists the rules for all domains')
      return call.withCore(async (core) => {
        const shown = await core.tls.show(domain)
        return { data: shown, text: domainText(shown) }
      })
    },
  },
  {
    name: 'tls list',
    usage: '[--limit N]',
    summary: 'List what is demanded of recipients, by domain and account',
    options: { limit: { type: 'string' } },
    run: (call) => {
      const limit = limitOption(call)
      return call.withCore(async (core) => {
        const rules = await core.tls.list({ limit })
        return { data: { rules }, text: rules.length === 0 ? 'no TLS rules' : rulesText(rules) }
      })
    },
  },
]

/** The domain; null if all. Throws {@link UsageError}. */
function domainOf(call: Call): string | null {
  const word = requiredWord(call, 'domain')
  if (word === ALL_DOMAINS) return null
  const domain = parseDomain(word)
  if (domain === undefined) throw new UsageError(`"${word}" is not a valid domain name such as example.com`)
  return domain
}

/** Throws {@link UsageError}. */
function levelOf(call: Call): string {
  const level = call.words[1]
  if (level === undefined) throw new UsageError('missing argument: required, verified or none')
  if (level === 'none' || isTlsDemand(level)) return level
  throw new UsageError(`the level must be required, verified or none (got "${level}")`)
}

function domainText({ rules, policy, isInEffect, hosts }: DomainTls): string {
  const fitting = (isListed: boolean | null): string => (isListed === null ? '' : isListed ? 'listed' : 'not listed')
  return [
    rules.length === 0 ? 'no TLS rules' : rulesText(rules),
    '',
    ...policyLines(policy, isInEffect),
    '',
    hosts === null
      ? 'the MX records are not known'
      : table(
          ['mail host', 'MTA-STS'],
          hosts.map(({ host, isListed }) => [host, fitting(isListed)]),
        ),
  ].join('\n')
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
