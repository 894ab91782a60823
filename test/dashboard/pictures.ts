import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startInstallation } from './installation.ts'
import { sendOrdinaryMail } from './ordinary-mail.ts'
import { PICTURED } from './pictured.ts'

/**
 * Pictures of every page: `node test/dashboard/pictures.ts --to FOLDER [--only NAME,…]`; with `--chosen`, those of the README and of docs/dashboard.md.
 * Starts an installation of its own, sends ordinary mail
 * through it, and pictures each page 1440 and 390 pixels wide, light and dark, before (`empty-…`) and after it.
 */
const { values } = parseArgs({
  options: {
    to: { type: 'string', default: 'docs/pictures' },
    only: { type: 'string', default: '' },
    chosen: { type: 'boolean', default: false },
  },
})
/** The pages of the documents, and the scheme of each. */
const CHOSEN = [
  ['overview', 'light'],
  ['messages', 'light'],
  ['message', 'light'],
  ['first-steps', 'dark'],
] as const
const VIEWS = [
  [1440, 'light'],
  [1440, 'dark'],
  [390, 'light'],
  [390, 'dark'],
] as const
const only = values.only === '' ? undefined : values.only.split(',')
const { url, link, key, page, logIn, stop } = await startInstallation()
try {
  mkdirSync(values.to, { recursive: true })
  if (!values.chosen) await take('first-link', link)
  const account = await logIn()
  if (!values.chosen) await takeAll(account, 'empty-')
  await sendOrdinaryMail(url, key)
  await (values.chosen ? takeChosen(account) : takeAll(account, ''))
} finally {
  await stop()
}

async function takeChosen(account: string): Promise<void> {
  await page.setViewportSize({ width: 1280, height: 800 })
  for (const [name, colorScheme] of CHOSEN) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const path = PICTURED.find(([one]) => one === name)?.[1] as (typeof PICTURED)[number][1]
    const target = typeof path === 'string' ? path : await path(page, `${url}/app/${account}`)
    await page.goto(`${url}${target?.replace(':account', account)}`)
    await page.waitForTimeout(300)
    await page.screenshot({ path: join(values.to, `${name}.png`) })
  }
}

async function takeAll(account: string, prefix: string): Promise<void> {
  for (const [name, path] of PICTURED) {
    if (only && !only.includes(name)) continue
    const target = typeof path === 'string' ? path : await path(page, `${url}/app/${account}`)
    if (target !== undefined) await take(`${prefix}${name}`, `${url}${target.replace(':account', account)}`)
  }
}

async function take(name: string, at: string): Promise<void> {
  for (const [width, colorScheme] of VIEWS) {
    await page.setViewportSize({ width, height: width === 390 ? 844 : 900 })
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.goto(at)
    await page.waitForTimeout(200)
    await page.screenshot({ path: join(values.to, `${name}-${width}-${colorScheme}.png`), fullPage: true })
  }
  process.stdout.write(`${name}\n`)
}
