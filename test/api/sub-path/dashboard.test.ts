import { ROUTES } from '@postrider/dashboard'
import t, { type Test } from 'tap'
import { happen } from '../../core/reporting/statistics/happen.ts'
import { makeBusyQueue } from '../../dashboard/busy-queue.ts'
import { PASSWORD, sessionCookieOf, submit, visitor } from '../../dashboard/dashboard.ts'
import { numberEvents } from '../../helpers/number-events.ts'
import { startReceiver } from '../../helpers/receiver.ts'
import { sendV2, v2Body } from '../../helpers/send.ts'
import { makeService } from '../../helpers/service.ts'
import { crawl } from './crawl.ts'
import { KINDS, PATH, type ProxyKind, startSubPathProxy } from './proxy.ts'

const EMAIL = 'ada@northwind.example'
/** Pages that no link leads to: they take a token of a mail, the answer of an OpenID provider, or an id that somebody types. */
const WITHOUT_LINKS = ['/first', '/invitation', '/oidc', '/oidc/begin', '/reset', '/verify', '/messages/:id']

/** A service behind a proxy, and its owner, who has followed the first link. */
async function openBehind(t: Test, kind: ProxyKind) {
  const proxy = await startSubPathProxy(t, kind)
  const service = await makeService(t, { ...proxy.settings, SIGN_UP: 'open', WEBHOOK_PRIVATE_NETWORKS: 'allow' })
  proxy.leadTo(service)
  await service.openApi()
  const { token } = await service.core.people.firstLink.create()
  const form = { token, name: 'Ada Lovelace', email: EMAIL, password: PASSWORD }
  const first = await submit(proxy.publicUrl, '/app/first', form)
  const cookie = sessionCookieOf(first)
  const session = await service.core.people.sessions.find(decodeURIComponent(cookie.split('=')[1] as string))
  const ada = visitor(proxy.publicUrl, cookie, session?.accounts[0]?.id as number)
  return { proxy, service, ada, userId: session?.user.id as number, first }
}

/** Makes one of everything that has a page. Where each form leads. */
async function fill(t: Test, { proxy, service, ada, userId }: Awaited<ReturnType<typeof openBehind>>) {
  const { core } = service
  const { accountId } = ada
  const by = { keyId: null, address: null }
  const led: string[] = []
  const add = async (path: string, form: Record<string, string>): Promise<void> => {
    const response = await ada.post(`/app/${accountId}${path}`, form)
    if (response.status >= 400) throw new Error(`${path}: ${response.status}`)
    led.push(response.headers.get('location') ?? `${PATH}/app`)
  }
  const { id: another } = await core.accounts.create('Quay')
  await core.people.members.add(another, userId, 'viewer', by)
  await makeBusyQueue(service, accountId)
  await service.giveKey('ship.example')
  await core.domains.add({ accountId, name: 'ship.example', state: 'active' })
  const { secret } = await core.auth.createKey({ accountId, name: 'shop' })
  const attachments = [{ fileName: 'a.txt', fileContent: Buffer.from('a').toString('base64') }]
  const { status, body } = await sendV2(
    proxy.publicUrl,
    secret,
    v2Body({ domain: 'ship.example' } as never, { attachments }),
  )
  if (status !== 200) throw new Error(`sendEmail: ${status} ${JSON.stringify(body)}`)
  await add('/domains', { domain: 'quay.example' })
  await add('/suppressions', { entries: 'x@harbor.example' })
  const { url } = await startReceiver(t)
  await add('/webhooks', { url, events: 'sent', enabled: 'on' })
  await happen(service, accountId, {
    type: 'sent',
    messageId: (body as { data: { message_id: string } }).data.message_id,
  })
  await add('/subaccounts', { username: 'dock2', email: 'dock2@harbor.example' })
  await add('/team', { email: 'grace@harbor.example', role: 'viewer' })
  await add('/keys', { name: 'desk', scopes: 'send' })
  await add('/exports', { from: '2026-01-01', to: '2026-01-02', events: 'sent', format: 'csv' })
  await numberEvents(service)
  await core.webhooks.notice()
  for (const batch of (await core.webhooks.claim(1)) ?? [])
    await core.webhooks.deliver(batch, new AbortController().signal)
  while (await core.exports.workSome());
  const { id } = await core.editableTemplates.create({ accountId, name: 'order', generation: 'dynamic', by })
  for (const name of ['one', 'two'])
    await core.editableTemplates.addVersion({ accountId, id, by }, { name, subject: 'Hello', html: `<p>${name}</p>` })
  await core.returns.take({
    raw: Buffer.from('From: <eve@quay.example>\r\nSubject: Hello\r\n\r\nHello\r\n'),
    recipients: [`postmaster@${service.config.returnPathHost}`],
    mailFrom: 'eve@quay.example',
  })
  return led
}

/** The pages that a visitor may see whom no crawl has reached. */
function unreached(paths: Iterable<string>): string[] {
  const seen = [...paths].map((path) => path.split('?', 1)[0] as string)
  return ROUTES.filter(({ method, path }) => method === 'GET' && !WITHOUT_LINKS.includes(path))
    .map((route) => (route.for === 'account' ? `/:account${route.path}` : route.path))
    .filter((path) => {
      const pattern = path === '/' ? '' : path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')
      return !seen.some((one) => new RegExp(`^${PATH}/app${pattern}$`).test(one))
    })
}

for (const kind of KINDS) {
  t.test(`behind a proxy that ${kind} the path, every page is reached below it, and no link leaves it`, async (t) => {
    const behind = await openBehind(t, kind)
    const { proxy, ada } = behind
    t.strictSame(
      (await fill(t, behind)).filter((path) => !path.startsWith(`${PATH}/app`)),
      [],
      'each form leads to a page below the path',
    )
    const within = `${PATH}/app`
    const guest = await crawl(proxy, { start: `${PATH}/app`, within })
    const owner = await crawl(proxy, { start: `${PATH}/app`, within, cookie: ada.cookie })
    for (const { answers, faults } of [guest, owner]) {
      t.strictSame(faults, [])
      t.strictSame(
        [...answers].filter(([, [status]]) => status >= 400),
        [],
      )
    }
    t.strictSame(unreached([...guest.answers.keys(), ...owner.answers.keys()]), [])
    const types = new Set([...guest.answers.values(), ...owner.answers.values()].map(([, type]) => type))
    for (const type of ['text/css', 'text/javascript', 'image/svg+xml', 'text/event-stream', 'application/json'])
      t.ok(types.has(type), type)
    t.strictSame(proxy.strays, [])
    t.ok(proxy.passed.every((path) => path.startsWith(`${PATH}/`) === (kind === 'leaves')))
  })

  t.test(
    `behind a proxy that ${kind} the path, log-in and log-out lead below it, and cookies stay there`,
    async (t) => {
      const { proxy, ada, first } = await openBehind(t, kind)
      const { publicUrl } = proxy
      const ask = (path: string, cookie = '') =>
        fetch(`${publicUrl}${path}`, { redirect: 'manual', headers: { cookie } })
      const locationOf = (response: Response) => response.headers.get('location')
      t.match(first.headers.getSetCookie(), [/^postrider=.*; Path=\/mail;/])
      t.equal(locationOf(first), `${PATH}/app`)
      t.equal(locationOf(await ask('/')), `${PATH}/app`)
      t.equal(locationOf(await ask('/app')), `${PATH}/app/login`)
      const keys = `/app/${ada.accountId}/keys`
      const to = locationOf(await ask(keys)) as string
      t.equal(to, `${PATH}/app/login?to=${encodeURIComponent(keys)}`)
      const page = await (await fetch(`${proxy.origin}${to}`)).text()
      t.match(page, `<form class="stack s" method="post" action="${PATH}/app/login">`)
      const field = /name="to" value="([^"]+)"/.exec(page)?.[1] as string
      const back = await submit(publicUrl, '/app/login', { email: EMAIL, password: PASSWORD, to: field })
      t.equal(locationOf(back), `${PATH}${keys}`)
      t.equal(locationOf(await ada.get(`${keys}/1/revoke`)), `${PATH}${keys}`, 'from the address of a form to its page')
      const looks = await ada.post('/app/preferences', { theme: 'dark', language: 'de', to: '/app/security' })
      t.equal(locationOf(looks), `${PATH}/app/security`)
      t.match(looks.headers.getSetCookie(), [/^language=de;.*Path=\/mail\/app;/, /^theme=dark;.*Path=\/mail\/app;/])
      const saved = await ada.post('/app/security/name', { name: 'Ada King' })
      t.equal(locationOf(saved), `${PATH}/app/security?said=saved`)
      const out = await ada.post('/app/logout')
      t.equal(locationOf(out), `${PATH}/app/login`)
      t.match(out.headers.getSetCookie(), [/^postrider=;.*Path=\/mail;/])
      t.equal((await fetch(`${publicUrl}${keys}`, { headers: { cookie: ada.cookie } })).status, 200)
      t.strictSame(proxy.strays, [])
    },
  )
}
