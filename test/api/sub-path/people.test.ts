import t, { type Test } from 'tap'
import { answered } from '../../cli/postrider.ts'
import { mailedText } from '../../core/people/mailed.ts'
import { makeMember } from '../../core/people/people.ts'
import { PASSWORD, sessionCookieOf, submit, visitor } from '../../dashboard/dashboard.ts'
import { CLIENT_ID, CLIENT_SECRET, followProvider, startProvider } from '../../helpers/openid-provider.ts'
import { makeService } from '../../helpers/service.ts'
import { KINDS, PATH, type ProxyKind, startSubPathProxy } from './proxy.ts'

const EMAIL = 'ada@northwind.example'

async function openBehind(t: Test, kind: ProxyKind, settings: Record<string, string> = {}) {
  const proxy = await startSubPathProxy(t, kind)
  const service = await makeService(t, { ...proxy.settings, ...settings })
  proxy.leadTo(service)
  await service.openApi()
  return { proxy, service }
}

const linkIn = (text = ''): string => /https?:\/\/\S+\?token=[\w-]+/.exec(text)?.[0] ?? `no link in ${text}`
const tokenOf = (url: string) => new URL(url).searchParams.get('token') as string

for (const kind of KINDS) {
  t.test(
    `behind a proxy that ${kind} the path, the links that people get by command and by mail lead below it`,
    async (t) => {
      const { proxy, service } = await openBehind(t, kind, { SERVICE_DOMAIN: 'post.northwind.example' })
      const { core, sql, env } = service
      const { publicUrl } = proxy
      const { url } = await answered<{ url: string }>(env, 'user', 'link')
      t.ok(url.startsWith(`${publicUrl}/app/first?token=`), url)
      t.match(await (await fetch(url)).text(), `action="${PATH}/app/first"`)
      const form = { token: tokenOf(url), name: 'Ada Lovelace', email: EMAIL, password: PASSWORD }
      const cookie = sessionCookieOf(await submit(publicUrl, '/app/first', form))
      const session = await core.people.sessions.find(decodeURIComponent(cookie.split('=')[1] as string))
      const accountId = session?.accounts[0]?.id as number
      const ada = visitor(publicUrl, cookie, accountId)
      await service.giveKey('post.northwind.example')
      await core.domains.add({ accountId, name: 'post.northwind.example', state: 'active' })
      await ada.post(`/app/${accountId}/team`, { email: 'grace@northwind.example', role: 'developer' })
      const invitation = linkIn(await mailedText(sql, 'grace@northwind.example'))
      t.ok(invitation.startsWith(`${publicUrl}/app/invitation?token=`), invitation)
      t.match(await (await fetch(invitation)).text(), 'You are invited as developer')
      await submit(publicUrl, '/app/forgotten', { email: EMAIL })
      await core.people.close()
      const reset = linkIn(await mailedText(sql, EMAIL))
      t.ok(reset.startsWith(`${publicUrl}/app/reset?token=`), reset)
      t.match(await (await fetch(reset)).text(), 'Set a new password')
      const set = await submit(publicUrl, '/app/reset', {
        token: tokenOf(reset),
        password: 'the horse has another name',
      })
      t.equal(set.headers.get('location'), `${PATH}/app`)
      t.strictSame(proxy.strays, [])
    },
  )

  t.test(
    `behind a proxy that ${kind} the path, people log in through a provider, which sends them back below it`,
    async (t) => {
      const proxy = await startSubPathProxy(t, kind)
      const claims = new Map<string, Record<string, unknown>>()
      const issuer = await startProvider(t, proxy.publicUrl, claims)
      const oidc = { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: CLIENT_ID, OIDC_CLIENT_SECRET: CLIENT_SECRET }
      const service = await makeService(t, { ...proxy.settings, ...oidc })
      proxy.leadTo(service)
      await service.openApi()
      const { accountId } = await service.makeSender()
      const { email } = await makeMember(service, accountId, 'developer')
      claims.set('grace', { email, email_verified: true })
      const wanted = `/app/${accountId}/keys`
      const page = await (await fetch(`${proxy.publicUrl}/app/login?to=${encodeURIComponent(wanted)}`)).text()
      const begin = /href="([^"]+\/app\/oidc\/begin[^"]*)"/.exec(page)?.[1] as string
      const begun = await fetch(`${proxy.origin}${begin}`, { redirect: 'manual' })
      const at = begun.headers.get('location') ?? ''
      t.ok(at.startsWith(issuer), 'the address of another site is as it was')
      t.equal(new URL(at).searchParams.get('redirect_uri'), `${proxy.publicUrl}/app/oidc`)
      const [kept = ''] = begun.headers.getSetCookie()
      t.match(kept, /^postrider-log-in=.*; Path=\/mail;/)
      const answer = await followProvider(proxy.publicUrl, at, 'grace')
      const done = await fetch(answer, { redirect: 'manual', headers: { cookie: kept.split(';')[0] as string } })
      t.equal(done.headers.get('location'), `${PATH}${wanted}`)
      t.equal((await visitor(proxy.publicUrl, sessionCookieOf(done), accountId).get(wanted)).status, 200)
    },
  )
}

t.test('a passkey belongs to the origin, and its page asks for options below the path', async (t) => {
  const { proxy } = await openBehind(t, 'strips')
  const page = await (await fetch(`${proxy.publicUrl}/app/login`)).text()
  t.match(page, `data-from="${PATH}/app/login/passkey"`)
  t.match(page, `data-origin="${proxy.origin}"`)
  const options = await fetch(`${proxy.publicUrl}/app/login/passkey`)
  t.match(await options.json(), { rpId: 'localhost' })
  t.match(options.headers.getSetCookie(), [/^postrider-log-in=.*; Path=\/mail;/])
})

t.test('over https, cookies are bound to the host, or to the path if other programs share the host', async (t) => {
  for (const [publicUrl, expected] of [
    ['https://mail.ship.example', /^__Host-postrider=\S+ Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Lax$/],
    ['https://ship.example/mail', /^__Secure-postrider=\S+ Max-Age=\d+; Path=\/mail; HttpOnly; Secure; SameSite=Lax$/],
  ] as const) {
    const service = await makeService(t, { PUBLIC_URL: publicUrl })
    const base = await service.openApi()
    const { token } = await service.core.people.firstLink.create()
    const form = { token, name: 'Ada Lovelace', email: EMAIL, password: PASSWORD }
    const [cookie] = (await submit(base, '/app/first', form)).headers.getSetCookie()
    t.match(cookie, expected)
    const headers = { cookie: (cookie as string).split(';')[0] as string }
    t.equal((await fetch(`${base}/app/security`, { headers, redirect: 'manual' })).status, 200)
  }
})
