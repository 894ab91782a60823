import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

export type Reaction = (request: IncomingMessage, response: ServerResponse) => unknown

/** A server on loopback; answers its base URL. */
export async function startServer(t: Pick<Test, 'teardown'>, react: Reaction): Promise<string> {
  const server = createServer(react)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** What a path answers: JSON, or whatever the function does. Undefined: 404. */
export type Answers = Readonly<Record<string, unknown>>

/** A v3 API with these answers, each list on one page; any other list is empty. */
export function startFake(t: Pick<Test, 'teardown'>, answers: Answers): Promise<string> {
  return startServer(t, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://fake.test')
    const known =
      answers[pathname] ??
      (pathname === '/v3/subusers' ? undefined : pathname === '/v3/templates' ? { result: [] } : [])
    if (typeof known === 'function') return known(request, response, searchParams)
    const answer = Number(searchParams.get('offset')) > 0 ? [] : known
    response.writeHead(answer === undefined ? 404 : 200).end(JSON.stringify(answer ?? {}))
  })
}
