import { type CheckPurpose, type IncomingPolicy, type RecordCheck, readIncomingPolicy } from '@postrider/core'
import type { Check } from './check.ts'
import { bad, type CheckResult, firstOf, NotChecked, ok, warn } from './check-result.ts'
import { outboundCheck } from './outbound-check.ts'
import { publicUrlCheck } from './public-url-check.ts'
import { DNS_MS, RESPONSE_MS, type Readings } from './readings.ts'
import { isWrong } from './source-status.ts'

export const networkChecks: readonly Check[] = [
  publicUrlCheck,
  records('HELO name', ['helo'], 'bad'),
  records('reverse DNS', ['reverse', 'reverseHelo'], 'bad'),
  records('return path', ['returnPath', 'spf'], 'bad'),
  records('other records', ['tracking', 'reports', 'dkim'], 'warn'),
  { area: 'network', name: 'MTA-STS', limitMs: 2 * DNS_MS, run: checkPolicies },
  outboundCheck,
]

/** The records of `postrider dns` for these purposes. */
function records(name: string, purposes: readonly CheckPurpose[], wrong: 'warn' | 'bad'): Check {
  return {
    area: 'network',
    name,
    database: true,
    limitMs: DNS_MS + RESPONSE_MS,
    async run({ dns }) {
      const found = (await dns()).records.filter(({ purpose }) => purposes.includes(purpose))
      return found.length === 0 ? undefined : evaluateRecords(found, wrong)
    },
  }
}

function evaluateRecords(found: readonly RecordCheck[], status: 'warn' | 'bad'): CheckResult {
  const wrong = found.filter(isWrong)
  const [first] = wrong
  if (first !== undefined) {
    const fix =
      first.type === 'PTR'
        ? 'have the provider of the address set its PTR record: "postrider dns" shows it'
        : 'publish what "postrider dns" prints'
    const text = firstOf(wrong.map(({ type, host, problem }) => `${type} ${host}: ${problem ?? 'wrong'}`))
    return status === 'bad' ? bad(text, fix) : warn(text, fix)
  }
  const unknown = found.filter(({ state }) => state === 'unknown')
  if (unknown.length > 0)
    return warn(
      firstOf(unknown.map(({ type, host, problem }) => `${type} ${host}: ${problem ?? 'unknown'}`)),
      'check the resolver of this host, or set DNS_SERVERS; then run postrider doctor again',
    )
  const skipped = found.every(({ state }) => state === 'skipped')
  return ok(skipped ? (found[0]?.problem ?? 'not checked') : firstOf(found.map(({ type, host }) => `${type} ${host}`)))
}

/** Policies of the domains that this service receives mail for: under a wrong one, bounces and letters do not arrive. */
async function checkPolicies({ config }: Readings): Promise<CheckResult | undefined> {
  const { returnPathHost, serviceDomain, delivery } = config
  if (delivery.kind === 'sandbox') return undefined
  const domains = [...new Set([returnPathHost, serviceDomain ?? returnPathHost])]
  const found = await Promise.all(
    domains.map(async (domain) => ({
      domain,
      policy: await readIncomingPolicy(domain, { config, deadlineMs: DNS_MS }),
    })),
  )
  const wrong = found.flatMap(({ domain, policy }) => problemOf(domain, policy))
  const [worst] = wrong.toSorted((a, b) => Number(b.isEnforced) - Number(a.isEnforced))
  if (worst !== undefined) {
    const text = firstOf(wrong.map(({ problem }) => problem))
    const fix = `correct https://mta-sts.${worst.domain}/.well-known/mta-sts.txt, then change the id in TXT _mta-sts.${worst.domain}`
    return worst.isEnforced ? bad(`${text}; senders that follow it do not deliver`, fix) : warn(text, fix)
  }
  const unknown = found.filter(({ policy }) => policy.kind === 'unknown').map(({ domain }) => domain)
  if (unknown.length > 0) throw new NotChecked(`the DNS did not respond for ${firstOf(unknown)}`)
  const own = found.flatMap(({ domain, policy }) => (policy.kind === 'policy' ? [`${domain} (${policy.mode})`] : []))
  return ok(
    own.length === 0 ? `no policy for ${firstOf(domains)}` : `the policies list the mail hosts: ${firstOf(own)}`,
  )
}

function problemOf(domain: string, policy: IncomingPolicy) {
  if (policy.kind === 'broken')
    return [{ domain, isEnforced: false, problem: `the policy of ${domain}: ${policy.problem}` }]
  if (policy.kind !== 'policy' || policy.mode === 'none' || policy.unlisted.length === 0) return []
  const problem = `the policy of ${domain} does not list its mail host ${firstOf(policy.unlisted)}`
  return [{ domain, isEnforced: policy.mode === 'enforce', problem }]
}
