import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import { BROWSER_MS, findBrowser } from '../helpers/browser.ts'
import { freePorts } from '../helpers/ports.ts'
import { PASSWORD } from './dashboard.ts'

/** An installation as `npm start` makes it, with its owner logged in to a browser. */
export interface Installation {
  readonly url: string
  /** The link that the first start printed. */
  readonly link: string
  /** The demo account's key. */
  readonly key: string
  /** Id of the API's process. */
  readonly apiPid: number
  readonly context: BrowserContext
  readonly page: Page
  /** Makes the owner by the link, and returns the account's number. */
  logIn(): Promise<string>
  stop(): Promise<void>
}

export async function startInstallation(): Promise<Installation> {
  const [api, relay, relayTls, smtp, http, returns] = await freePorts(6)
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    DATA_DIR: mkdtempSync(join(tmpdir(), 'dashboard-')),
    API_PORT: String(api),
    RELAY_PORT: String(relay),
    RELAY_TLS_PORT: String(relayTls),
    SANDBOX_SMTP_PORT: String(smtp),
    SANDBOX_HTTP_PORT: String(http),
    RETURNS_PORT: String(returns),
    REPUTATION_RULES: 'none',
  }
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  const service = spawn(process.execPath, ['packages/cli/src/postrider.ts', 'up'], { env, stdio: [...stdio] })
  const ended = new Promise((resolve) => service.once('exit', resolve))
  const stop = async () => {
    service.kill('SIGTERM')
    await ended
  }
  try {
    const printed = await textUntil(service.stdout, 'Running.')
    const link = /http:\S+\/app\/first\?token=\S+/.exec(printed)?.[0] as string
    const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    const browser = await chromium.launch({ executablePath: findBrowser() as string, args })
    const context = await browser.newContext({ locale: 'en-GB' })
    context.setDefaultTimeout(BROWSER_MS)
    const page = await context.newPage()
    return {
      url: new URL(link).origin,
      link,
      key: /\bpr_\w+/.exec(printed)?.[0] as string,
      apiPid: await pidOf(service.pid as number, 'api/src/server.ts'),
      context,
      page,
      async logIn() {
        await page.goto(link)
        await page.fill('[name=name]', 'Ada Lovelace')
        await page.fill('[name=email]', 'ada@northwind.example')
        await page.fill('[name=password]', PASSWORD)
        await page.click('button[type=submit]')
        await page.waitForURL(/\/app\/\d+/)
        return /\/app\/(\d+)/.exec(page.url())?.[1] as string
      },
      async stop() {
        await browser.close()
        await stop()
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The child of a process whose command line has this text. */
async function pidOf(parent: number, text: string): Promise<number> {
  const { readFileSync } = await import('node:fs')
  const children = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim().split(' ').map(Number)
  return children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text)) as number
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
