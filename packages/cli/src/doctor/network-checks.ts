import {
  type CheckPurpose,
  type IncomingPolicy,
  type RecordCheck,
  readIncomingPolicy,
  startLine,
  withDns,
} from '@postrider/core'
import { local } from '../first-run.ts'
import { smtpGreeting } from '../smtp/greeting.ts'
import type { Check } from './check.ts'
import { bad, type CheckResult, firstOf, NotChecked, ok, warn } from './check-result.ts'
import { DNS_MS, RESPONSE_MS, type Readings } from './readings.ts'
import { isWrong } from './source-status.ts'

/** Hosts of the recipient's domain that are tried. */
const MAX_HOSTS = 3

export const networkChecks: readonly Check[] = [
  { area: 'network', name: 'public URL', run: checkPublicUrl },
  records('HELO name', ['helo'], 'bad'),
  records('reverse DNS', ['reverse', 'reverseHelo'], 'bad'),
  records('return path', ['returnPath', 'spf'], 'bad'),
  records('other records', ['tracking', 'reports', 'dkim'], 'warn'),
  { area: 'network', name: 'MTA-STS', limitMs: 2 * DNS_MS, run: checkPolicies },
  { area: 'network', name: 'outbound SMTP', limitMs: DNS_MS + MAX_HOSTS * RESPONSE_MS, run: checkOutbound },
]

async function checkPublicUrl({ config, env }: Readings): Promise<CheckResult> {
  const { publicUrl, delivery } = config
  const url = `${publicUrl}/health/live`
  const failure = await fetch(url, { signal: AbortSignal.timeout(RESPONSE_MS) }).then(
    async (response) => {
      await response.body?.cancel()
      return response.ok ? undefined : `status ${response.status}`
    },
    (error: Error & { cause?: { code?: string } }) => error.cause?.code ?? error.message,
  )
  if (failure !== undefined)
    return bad(
      `${url} does not respond to this host (${failure}); links, unsubscribe pages and the dashboard are there`,
      'start the API, have the reverse proxy forward this name to API_PORT, or set PUBLIC_URL to the right one',
    )
  return env.PUBLIC_URL || delivery.kind === 'sandbox'
    ? ok(`${publicUrl} leads to the API`)
    : warn(
        `PUBLIC_URL is not set, so links in mail lead to ${publicUrl}`,
        'set PUBLIC_URL to the URL that recipients can reach',
      )
}

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

/** Connects to the server that mail is sent to. The servers of recipients are asked only if a message is sent to one anyway. */
async function checkOutbound({ config, recipient }: Readings): Promise<CheckResult> {
  const { delivery, sandboxHost, sandboxSmtpPort, mxPort } = config
  if (delivery.kind === 'sandbox')
    return tried(
      [{ host: local(sandboxHost), port: sandboxSmtpPort }],
      startLine('the inbox', 'packages/sandbox/src/server.ts'),
    )
  if (delivery.kind === 'relay' && delivery.tls)
    throw new NotChecked('DELIVERY is smtps://, which greets only within TLS')
  if (delivery.kind === 'relay') return tried([delivery], 'check the host and port in DELIVERY, and firewalls')
  if (recipient === undefined) throw new NotChecked("give --send ADDRESS to try the address's mail server")
  const domain = recipient.slice(recipient.lastIndexOf('@') + 1)
  const servers = await mailAddresses(domain, config.dnsServers)
  if (servers.length === 0)
    return bad(`no mail server of ${domain} has an address`, 'check DNS_SERVERS, and the address after --send')
  return tried(
    servers.map((server) => ({ ...server, port: mxPort })),
    `have your network's provider open outbound port ${mxPort}, or set DELIVERY to smtp://USER:PASSWORD@HOST:PORT of a relay host`,
  )
}

interface Server {
  /** An address, or a name of the system's resolver. */
  readonly host: string
  /** Shown instead of an address. */
  readonly name?: string
}

async function tried(servers: readonly (Server & { readonly port: number })[], fix: string): Promise<CheckResult> {
  const replies: string[] = []
  for (const { host, name = host, port } of servers) {
    const greeting = await smtpGreeting(host, port, RESPONSE_MS)
    if (greeting?.startsWith('220')) return ok(`${name}:${port} responds`)
    replies.push(`${name}:${port}: ${greeting ?? 'no response'}`)
  }
  return bad(replies.join('; '), fix)
}

/** An address of each mail server of a domain, the most preferred first, by the resolvers that the workers use. */
async function mailAddresses(domain: string, servers: readonly string[]): Promise<Server[]> {
  return withDns({ servers, deadlineMs: DNS_MS }, async (query) => {
    const answer = await query('MX', domain)
    if (answer.kind === 'unanswered') throw new Error(`the lookup of MX ${domain} failed (${answer.code})`)
    const hosts = answer.values.map((value) => value.split(' ')).toSorted(([a], [b]) => Number(a) - Number(b))
    const names = hosts.length === 0 ? [domain] : hosts.flatMap(([, host]) => (host ? [host] : []))
    const found = await Promise.all(
      names.slice(0, MAX_HOSTS).map(async (name) => {
        const [v4, v6] = await Promise.all([query('A', name), query('AAAA', name)])
        const address = [v4, v6].flatMap((one) => (one.kind === 'records' ? one.values : []))[0]
        return address === undefined ? [] : [{ name, host: address }]
      }),
    )
    return found.flat()
  })
}
