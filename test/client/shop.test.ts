import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { Postrider } from '../../packages/client/src/index.ts'
import { BROWSER_MS, openBrowser, skipWithoutBrowser } from '../helpers/browser.ts'
import { start } from './started.ts'

/** A shop in which customers confirm their address with a code, or by the link next to it. */
async function openShop(t: Test, mail: Postrider): Promise<string> {
  const codes = new Map<string, string>()
  const page = (body: string) => `<!doctype html><html lang="en"><title>Shop</title>${body}</html>`
  const formOf = async (request: IncomingMessage) => new URLSearchParams(await text(request))
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', base)
    response.setHeader('content-type', 'text/html; charset=utf-8')
    const form = request.method === 'POST' ? await formOf(request) : url.searchParams
    const email = form.get('email') ?? ''
    if (url.pathname === '/confirm') {
      const isRight = codes.has(email) && codes.get(email) === form.get('code')
      return response.end(page(isRight ? '<h1>Welcome</h1>' : '<h1>Wrong code</h1>'))
    }
    if (email === '')
      return response.end(
        page('<form method="post"><label>Email <input name="email"></label><button>Sign up</button></form>'),
      )
    const code = String(100_000 + codes.size)
    codes.set(email, code)
    const link = `${base}/confirm?${new URLSearchParams({ email, code })}`
    await mail.messages.send({
      from: 'Shop <hello@shop.example>',
      to: email,
      subject: 'Please confirm your address',
      html: `<p>Your code:</p><h1>${code}</h1><p>Or <a href="${link.replaceAll('&', '&amp;')}">confirm here</a>.</p><p>© 2026 Shop</p>`,
      trackClicks: true,
    })
    return response.end(
      page(`<form method="post" action="/confirm"><input type="hidden" name="email" value="${email}">
        <label>Code <input name="code"></label><button>Confirm</button></form>`),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return base
}

t.test(
  'customers of a shop sign up in a browser, with the codes and links that they get by mail',
  skipWithoutBrowser,
  async (t) => {
    const { url, apiKey, inbox } = await start(t)
    const shop = await openShop(t, new Postrider({ baseUrl: url, apiKey }))
    const context = await openBrowser(t)
    const signUp = async (to: string) => {
      const page = await context.newPage()
      await page.goto(shop)
      await page.getByLabel('Email').fill(to)
      await page.getByRole('button', { name: 'Sign up' }).click()
      return page
    }
    const [lena, piet] = [inbox.address('lena'), inbox.address('piet')]
    // Both at once: each gets the code of their own.
    const [pageOfLena, pageOfPiet] = await Promise.all([signUp(lena), signUp(piet)])
    const { codes, subject } = await inbox.waitFor({ to: lena, timeout: BROWSER_MS })
    t.equal(subject, 'Please confirm your address')
    t.equal(codes.length, 1)
    await pageOfLena.getByLabel('Code').fill(codes[0] as string)
    await pageOfLena.getByRole('button', { name: 'Confirm' }).click()
    await pageOfLena.getByRole('heading', { name: 'Welcome' }).waitFor()
    const { links } = await inbox.waitFor({ to: piet, timeout: BROWSER_MS })
    const link = links.find(({ text }) => text === 'confirm here')
    t.match(link, { isTracked: true, target: `${shop}/confirm?` })
    t.not(link?.url, link?.target)
    await pageOfPiet.goto(link?.url as string)
    await pageOfPiet.getByRole('heading', { name: 'Welcome' }).waitFor()
  },
)
