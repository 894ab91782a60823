import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

/** The client of the installation at the provider. */
export const CLIENT_ID = 'postrider'
export const CLIENT_SECRET = 'a secret of the client'

/** A real provider on loopback, which logs in whom the test names. `claims`: its users, by subject. Returns its issuer. */
export async function startProvider(
  t: Test,
  publicUrl: string,
  claims: ReadonlyMap<string, Readonly<Record<string, unknown>>>,
): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { default: Provider } = await import('oidc-provider' as string)
  const provider = new Provider(url, {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: [`${publicUrl}/app/oidc`],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'roles'] },
    conformIdTokenClaims: false,
    cookies: { keys: ['only for this test'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id, ...claims.get(id) }) }),
    async loadExistingGrant(context: { oidc: Record<string, { accountId: string; clientId: string }> }) {
      const grant = new provider.Grant({
        clientId: context.oidc.client?.clientId,
        accountId: context.oidc.session?.accountId,
      })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  })
  const handle = provider.callback()
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return void handle(request, response)
    const accountId = /as=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1]
    void provider.interactionFinished(request, response, { login: { accountId } })
  })
  return url
}

/** Follows the provider's pages as the user, and returns the URL that the browser is sent back to. */
export async function followProvider(publicUrl: string, start: string, subject: string): Promise<string> {
  const cookies = new Map([['as', subject]])
  let url = start
  for (let step = 0; step < 10; step++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await fetch(url, { redirect: 'manual', headers: { cookie } })
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      cookies.set(name, value)
    }
    const location = answer.headers.get('location')
    if (!location) throw new Error(`${answer.status} ${await answer.text()}`)
    url = new URL(location, url).href
    if (url.startsWith(publicUrl)) return url
  }
  throw new Error('too many redirects')
}
