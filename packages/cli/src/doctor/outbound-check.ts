import { startLine, withDns } from '@postrider/core'
import { local } from '../first-run.ts'
import { smtpGreeting } from '../smtp/greeting.ts'
import type { Check } from './check.ts'
import { bad, type CheckResult, NotChecked, ok } from './check-result.ts'
import { DNS_MS, RESPONSE_MS, type Readings } from './readings.ts'

/** Hosts of the recipient's domain that are tried. */
const MAX_HOSTS = 3
/** Its mail servers greet every address; a network that closes port 25 closes it to them, too. */
export const WELL_KNOWN = 'gmail.com'

export const outboundCheck: Check = {
  area: 'network',
  name: 'outbound SMTP',
  limitMs: DNS_MS + MAX_HOSTS * RESPONSE_MS,
  run: checkOutbound,
}

/** Connects to the server that mail is sent to: of the recipient of test messages, else one of {@link WELL_KNOWN}, once. */
async function checkOutbound({ config, recipient, offline }: Readings): Promise<CheckResult> {
  const { delivery, sandboxHost, sandboxSmtpPort, mxPort } = config
  if (delivery.kind === 'sandbox')
    return tried(
      [{ host: local(sandboxHost), port: sandboxSmtpPort }],
      startLine('the inbox', 'packages/sandbox/src/server.ts'),
    )
  if (delivery.kind === 'relay' && delivery.tls)
    throw new NotChecked('DELIVERY is smtps://, which greets only within TLS')
  if (delivery.kind === 'relay') return tried([delivery], 'check the host and port in DELIVERY, and firewalls')
  if (recipient === undefined && offline) throw new NotChecked('--offline: no mail server of others is connected to')
  const domain = recipient === undefined ? WELL_KNOWN : recipient.slice(recipient.lastIndexOf('@') + 1)
  const { servers, failed } = await mailServers(domain, config.dnsServers, recipient === undefined ? 1 : MAX_HOSTS)
  if (servers.length === 0 && (failed !== undefined || recipient === undefined))
    throw new NotChecked(`the mail servers of ${domain} are unknown: ${failed ?? 'the DNS of this host has none'}`)
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

interface MailServers {
  readonly servers: readonly Server[]
  /** The first lookup that failed: then there may be others. */
  readonly failed: string | undefined
}

/** An address of each mail server of a domain, the most preferred first, by the resolvers that the workers use. */
async function mailServers(domain: string, resolvers: readonly string[], most: number): Promise<MailServers> {
  return withDns({ servers: resolvers, deadlineMs: DNS_MS }, async (query) => {
    const failures: string[] = []
    const values = async (type: 'MX' | 'A' | 'AAAA', name: string): Promise<readonly string[]> => {
      const answer = await query(type, name)
      if (answer.kind === 'records') return answer.values
      failures.push(`the lookup of ${type} ${name} failed (${answer.code})`)
      return []
    }
    const records = await values('MX', domain)
    const hosts = records.map((value) => value.split(' ')).toSorted(([a], [b]) => Number(a) - Number(b))
    const names = records.length === 0 ? [domain] : hosts.flatMap(([, host]) => (host ? [host] : []))
    const found = await Promise.all(
      names.slice(0, most).map(async (name) => {
        const address = (await values('A', name))[0] ?? (await values('AAAA', name))[0]
        return address === undefined ? [] : [{ name, host: address }]
      }),
    )
    return { servers: found.flat(), failed: failures[0] }
  })
}
