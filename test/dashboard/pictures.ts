import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { chromium, type Page } from 'playwright-core'
import { findBrowser } from '../helpers/browser.ts'
import { freePorts } from '../helpers/ports.ts'
import { PASSWORD } from './dashboard.ts'
import { sendOrdinaryMail } from './ordinary-mail.ts'
import { PICTURED } from './pictured.ts'

/**
 * Pictures of every page: `node test/dashboard/pictures.ts --to FOLDER [--only NAME,…]`. Starts an installation of its own, sends ordinary mail
 * through it, and pictures each page 1440 and 390 pixels wide, light and dark.
 */
const { values } = parseArgs({
  options: { to: { type: 'string', default: 'pictures' }, only: { type: 'string', default: '' } },
})
const [api, relay, relayTls, smtp, http, returns] = await freePorts(6)
const folder = mkdtempSync(join(tmpdir(), 'pictures-'))
const env = {
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  DATA_DIR: folder,
  API_PORT: String(api),
  RELAY_PORT: String(relay),
  RELAY_TLS_PORT: String(relayTls),
  SANDBOX_SMTP_PORT: String(smtp),
  SANDBOX_HTTP_PORT: String(http),
  RETURNS_PORT: String(returns),
}
const service = spawn(process.execPath, ['packages/cli/src/postrider.ts', 'up'], {
  env,
  stdio: ['ignore', 'pipe', 'inherit'],
})
try {
  const printed = await textUntil(service.stdout, 'Running.')
  const key = /\bpr_\w+/.exec(printed)?.[0] as string
  const link = /http:\S+\/app\/first\?token=\S+/.exec(printed)?.[0] as string
  const url = new URL(link).origin
  const browser = await chromium.launch({
    executablePath: findBrowser() as string,
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  })
  const context = await browser.newContext({ locale: 'en-GB' })
  const page = await context.newPage()
  mkdirSync(values.to, { recursive: true })
  await take(page, 'first-link', link, values.to)
  await page.goto(link)
  await page.fill('[name=name]', 'Ada Lovelace')
  await page.fill('[name=email]', 'ada@northwind.example')
  await page.fill('[name=password]', PASSWORD)
  await page.click('button[type=submit]')
  await page.waitForURL(/\/app\/\d+/)
  const account = /\/app\/(\d+)/.exec(page.url())?.[1] as string
  await takeAll(page, { url, account, prefix: 'empty-' })
  await sendOrdinaryMail(url, key)
  await takeAll(page, { url, account, prefix: '' })
  await browser.close()
} finally {
  service.kill('SIGTERM')
}

async function takeAll(
  page: Page,
  { url, account, prefix }: { readonly url: string; readonly account: string; readonly prefix: string },
): Promise<void> {
  const only = values.only === '' ? undefined : values.only.split(',')
  for (const [name, path] of PICTURED) {
    if (only && !only.includes(name)) continue
    const target = typeof path === 'string' ? path : await path(page, `${url}/app/${account}`)
    if (target !== undefined)
      await take(page, `${prefix}${name}`, `${url}${target.replace(':account', account)}`, values.to)
  }
}

async function take(page: Page, name: string, at: string, to: string): Promise<void> {
  for (const [width, colorScheme] of [
    [1440, 'light'],
    [1440, 'dark'],
    [390, 'light'],
    [390, 'dark'],
  ] as const) {
    await page.setViewportSize({ width, height: width === 390 ? 844 : 900 })
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.goto(at)
    await page.waitForTimeout(200)
    await page.screenshot({ path: join(to, `${name}-${width}-${colorScheme}.png`), fullPage: true })
  }
  process.stdout.write(`${name}\n`)
}

function textUntil(stream: NodeJS.ReadableStream, end: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (text.includes(end)) resolve(text)
    })
    stream.on('end', () => reject(new Error(`the service ended: ${text}`)))
  })
}
