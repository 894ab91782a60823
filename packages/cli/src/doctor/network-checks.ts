import type { CheckPurpose, RecordCheck } from '@postrider/core'
import { withDns } from '@postrider/core'
import { local } from '../commands/operate.ts'
import { isWrong } from '../commands/source-status.ts'
import { smtpGreeting } from '../smtp-greeting.ts'
import type { Check } from './check.ts'
import { bad, type Finding, firstOf, NotChecked, ok, warn } from './finding.ts'
import { DNS_MS, RESPONSE_MS, type Readings } from './readings.ts'

/** Hosts of the recipient's domain that are tried. */
const MAX_HOSTS = 3

export const networkChecks: readonly Check[] = [
  { area: 'network', name: 'public URL', run: checkPublicUrl },
  records('HELO name', ['helo'], 'bad'),
  records('reverse DNS', ['reverse', 'reverseHelo'], 'bad'),
  records('return path', ['returnPath', 'spf'], 'bad'),
  records('other records', ['tracking', 'reports', 'dkim'], 'warn'),
  { area: 'network', name: 'outbound SMTP', limitMs: DNS_MS + MAX_HOSTS * RESPONSE_MS, run: checkOutbound },
]

async function checkPublicUrl({ config, env }: Readings): Promise<Finding> {
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
      return found.length === 0 ? undefined : judgeRecords(found, wrong)
    },
  }
}

function judgeRecords(found: readonly RecordCheck[], status: 'warn' | 'bad'): Finding {
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

/** Connects to the server that mail is sent to. The servers of recipients are asked only if a message is sent to one anyway. */
async function checkOutbound({ config, recipient }: Readings): Promise<Finding> {
  const { delivery, sandboxHost, sandboxSmtpPort, mxPort } = config
  if (delivery.kind === 'sandbox')
    return tried(
      [{ host: local(sandboxHost), port: sandboxSmtpPort }],
      'npm start, or only the inbox: node packages/sandbox/src/server.ts',
    )
  if (delivery.kind === 'relay' && delivery.tls)
    throw new NotChecked('DELIVERY is smtps://, which greets only within TLS')
  if (delivery.kind === 'relay') return tried([delivery], 'check the host and port in DELIVERY, and firewalls')
  if (recipient === undefined) throw new NotChecked("give --send ADDRESS to try the address's mail server")
  const hosts = await mailHosts(recipient.slice(recipient.lastIndexOf('@') + 1), config.dnsServers)
  return tried(
    hosts.map((host) => ({ host, port: mxPort })),
    `have your network's provider open outbound port ${mxPort}, or set DELIVERY to smtp://USER:PASSWORD@HOST:PORT of a relay host`,
  )
}

async function tried(servers: readonly { host: string; port: number }[], fix: string): Promise<Finding> {
  const replies: string[] = []
  for (const { host, port } of servers.slice(0, MAX_HOSTS)) {
    const greeting = await smtpGreeting(host, port, RESPONSE_MS)
    if (greeting?.startsWith('220')) return ok(`${host}:${port} responds`)
    replies.push(`${host}:${port}: ${greeting ?? 'no response'}`)
  }
  return bad(replies.join('; ') || 'the recipient has no mail server', fix)
}

async function mailHosts(domain: string, servers: readonly string[]): Promise<string[]> {
  const answer = await withDns({ servers, deadlineMs: DNS_MS }, (query) => query('MX', domain))
  if (answer.kind === 'unanswered') throw new Error(`the lookup of MX ${domain} failed (${answer.code})`)
  if (answer.values.length === 0) return [domain]
  const hosts = answer.values.map((value) => value.split(' '))
  return hosts.toSorted(([a], [b]) => Number(a) - Number(b)).flatMap(([, host]) => (host ? [host] : []))
}
