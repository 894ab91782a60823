import type { Test } from 'tap'
import { type DnsServer, startDns, type Zone } from '../../helpers/dns.ts'
import { makeService, type TestService } from '../../helpers/service.ts'
import { asForm, type CallAnswer, call, FORM } from '../call.ts'

export interface ShownRecord {
  readonly type: 'TXT' | 'CNAME'
  readonly host: string
  readonly value: string
  readonly purpose: string
  readonly verified: boolean
  readonly state: string
  readonly required: boolean
  readonly found?: string[]
  readonly problem?: string
  readonly key?: string
  readonly algorithm?: string
}

export interface ShownDomain {
  readonly domain: string
  readonly envelopeName: string | null
  readonly status: string
  readonly shared: boolean
  readonly ed25519: boolean
  readonly checkedTime: string | null
  readonly brokenSince: string | null
  readonly claimEnds: string | null
  readonly dns: readonly ShownRecord[]
}

type Input = Record<string, unknown>

/** A service that asks a DNS server of the test's, and calls of its domain operations. */
export interface DomainTest {
  readonly service: TestService
  readonly url: string
  readonly dns: DnsServer
  /** POST with JSON. */
  post(apiKey: string, path: string, body: Input): Promise<CallAnswer>
  postForm(apiKey: string, path: string, body: Input): Promise<CallAnswer>
  /** `data` of an answer; throws unless it is 200. */
  done<T = ShownDomain>(apiKey: string, path: string, body: Input): Promise<T>
  newName(): string
  /** Publishes the records, or those of some purposes. */
  publish(domain: ShownDomain, ...purposes: string[]): void
  set(host: string, zone: Zone): void
}

let names = 0

export async function startDomains(t: Test, settings: Record<string, string> = {}): Promise<DomainTest> {
  const dns = await startDns(t, {})
  const service = await makeService(t, {
    DNS_SERVERS: dns.address,
    RETURN_PATH_HOST: 'returns.relay.test',
    PUBLIC_URL: 'https://go.relay.test',
    ...settings,
  })
  const url = await service.openApi()
  const post = (apiKey: string, path: string, body: Input) =>
    call(url, { path: `/v2/${path}`, headers: { api_key: apiKey }, body })
  const set = (host: string, zone: Zone): void => {
    dns.zones[host] = zone
  }
  return {
    service,
    url,
    dns,
    post,
    set,
    postForm: (apiKey, path, body) =>
      call(url, { path: `/v2/${path}`, headers: { api_key: apiKey, ...FORM }, body: asForm(body) }),
    async done<T>(apiKey: string, path: string, body: Input) {
      const { status, json, text } = await post(apiKey, path, body)
      if (status !== 200) throw new Error(`${path}: ${status} ${text}`)
      return json?.data as T
    },
    newName: () => `port${++names}.example`,
    publish(domain, ...purposes) {
      for (const { type, host, value, purpose } of domain.dns) {
        if (purposes.length > 0 && !purposes.includes(purpose)) continue
        set(host, type === 'TXT' ? { txt: [value] } : { cname: value })
      }
    },
  }
}

/** A host or selector without the tag that is made by chance for each domain. */
export function untagged(text: string | undefined): string | undefined {
  return text?.replace(/^(pr\d+(?:-ed)?)-[a-z0-9]{6}(?=\.|$)/, '$1')
}

/** "right" and so on, by purpose; of DKIM records by what the key does, of Ed25519 with its name. */
export function statesOf({ dns }: ShownDomain): Record<string, string> {
  const nameOf = ({ purpose, key, algorithm }: ShownRecord): string => {
    const name = key ? `${purpose} ${key}` : purpose
    return algorithm === 'ed25519' ? `${name} ed25519` : name
  }
  return Object.fromEntries(dns.map((record) => [nameOf(record), record.state]))
}
