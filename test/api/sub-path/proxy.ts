import { request as ask, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import type { TestService } from '../../helpers/service.ts'

/** What reverse proxies do with the path below which a service is reached: they take it off the request, or leave it. */
export const KINDS = ['strips', 'leaves'] as const
export type ProxyKind = (typeof KINDS)[number]

export const PATH = '/mail'
const CLIENT = '192.0.2.9'

/** A reverse proxy whose host has other programs, too: only what is below PATH reaches the API. */
export interface SubPathProxy {
  readonly origin: string
  readonly publicUrl: string
  /** Settings of the service behind it. */
  readonly settings: Readonly<Record<string, string>>
  /** Requests that came to the other programs of the host. */
  readonly strays: string[]
  /** URLs as the API got them. */
  readonly passed: string[]
  leadTo(service: TestService): void
}

export async function startSubPathProxy(t: Test, kind: ProxyKind): Promise<SubPathProxy> {
  const [strays, passed] = [[] as string[], [] as string[]]
  let port = 0
  const server = createServer((request, response) => {
    const { method, headers, url = '' } = request
    if (!/^\/mail(?:[/?]|$)/.test(url)) {
      strays.push(`${method} ${url}`)
      return void response.writeHead(404).end('another program')
    }
    const path = kind === 'strips' ? url.slice(PATH.length).replace(/^(?!\/)/, '/') : url
    passed.push(path)
    const onward = ask(
      { host: '127.0.0.1', port, method, path, headers: { ...headers, 'x-forwarded-for': CLIENT } },
      (answer) => {
        response.writeHead(answer.statusCode as number, answer.headers)
        response.flushHeaders()
        answer.on('error', () => response.destroy()).pipe(response)
      },
    )
    onward.on('error', () => response.destroy())
    response.on('close', () => onward.destroy())
    request.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  // Browsers have passkeys at this name without https.
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`
  const publicUrl = `${origin}${PATH}`
  return {
    origin,
    publicUrl,
    settings: { PUBLIC_URL: publicUrl, TRUST_PROXY: '127.0.0.1', OPERATOR_NETWORKS: CLIENT },
    strays,
    passed,
    leadTo: ({ config }) => void (port = config.apiPort),
  }
}
