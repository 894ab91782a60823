import { existsSync } from 'node:fs'
import { type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core'
import type { Test } from 'tap'

const PLACES = ['/usr/bin/chromium', '/usr/bin/google-chrome']

/** A Chromium of this machine: CHROMIUM, or where Debian and Google put it. Undefined: there is none. */
export function findBrowser(): string | undefined {
  const named = process.env.CHROMIUM
  if (named && !existsSync(named)) throw new Error(`CHROMIUM names ${named}, which is not there`)
  return named || PLACES.find((place) => existsSync(place))
}

/** For tests that can't do without one: it says so, and does not pass for having run. */
export const skipWithoutBrowser = findBrowser()
  ? {}
  : { skip: 'NOT RUN: no Chromium here. Install it (apt-get install chromium), or name one in CHROMIUM' }

/** As a person's browser: a headless one says what it is, and counts as a machine. */
const USER_AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36'

/** Milliseconds for a step of a page, as the runner's limit for a file is: a busy machine took more than the 30 s that playwright waits by itself. */
export const BROWSER_MS = 180_000

/** Opens a browser of its own for the test, without anything in it. */
export async function openBrowser(t: Test, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const browser = await chromium.launch({
    executablePath: findBrowser() as string,
    headless: true,
    // Chromium's own sandbox is refused to root.
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  })
  t.teardown(() => browser.close())
  const context = await browser.newContext({ userAgent: USER_AGENT, ...options })
  context.setDefaultTimeout(BROWSER_MS)
  return context
}
