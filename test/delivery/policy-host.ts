import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { Test } from 'tap'
import type { DnsServer } from '../helpers/dns.ts'
import type { Authority, IssuedCertificate } from './authority.ts'

export interface PolicyHost {
  /** Times that the policy was requested. */
  readonly requests: number
  /** Changes the policy and its id. */
  publish(policy: Partial<Published>): void
  close(): Promise<void>
}

export interface Published {
  readonly id: string
  readonly mode: string
  readonly mx: readonly string[]
  readonly maxAge: number
}

export interface PolicyHostOptions {
  readonly dns: DnsServer
  readonly authority: Authority
  readonly address: string
  readonly port: number
  readonly policy?: Partial<Published>
  /** Responds instead of the policy. */
  readonly respond?: RequestListener
  readonly certificate?: IssuedCertificate
}

/** A real policy host of a domain, with its DNS records (RFC 8461). */
export async function startPolicyHost(t: Test, domain: string, options: PolicyHostOptions): Promise<PolicyHost> {
  const { dns, authority, address, port, respond, certificate } = options
  let policy: Published = { id: '1', mode: 'enforce', mx: [`*.${domain}`], maxAge: 604_800 }
  let requests = 0
  const name = `mta-sts.${domain}`
  const server = createServer(certificate ?? (await authority.issue([name])), (request, response) => {
    requests++
    if (respond) return void respond(request, response)
    if (request.url !== '/.well-known/mta-sts.txt' || request.headers.host?.split(':')[0] !== name) {
      return void response.writeHead(404).end()
    }
    response.writeHead(200, { 'content-type': 'text/plain' }).end(textOf(policy))
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(port, address, resolve))
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  t.teardown(close)
  const publish = (changes: Partial<Published>): void => {
    policy = { ...policy, ...changes }
    dns.zones[`_mta-sts.${domain}`] = { txt: [`v=STSv1; id=${policy.id};`] }
  }
  dns.zones[name] = { a: [address] }
  publish(options.policy ?? {})
  return {
    get requests() {
      return requests
    },
    publish,
    close,
  }
}

export function textOf({ mode, mx, maxAge }: Pick<Published, 'mode' | 'mx' | 'maxAge'>): string {
  const hosts = mx.map((host) => `mx: ${host}\r\n`).join('')
  return `version: STSv1\r\nmode: ${mode}\r\n${hosts}max_age: ${maxAge}\r\n`
}
