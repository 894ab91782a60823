import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startInstallation } from './installation.ts'
import { sendOrdinaryMail } from './ordinary-mail.ts'
import { PICTURED } from './pictured.ts'

/**
 * Pictures of every page: `node test/dashboard/pictures.ts --to FOLDER [--only NAME,…]`. Starts an installation of its own, sends ordinary mail
 * through it, and pictures each page 1440 and 390 pixels wide, light and dark, before (`empty-…`) and after it.
 */
const { values } = parseArgs({
  options: { to: { type: 'string', default: 'pictures' }, only: { type: 'string', default: '' } },
})
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
  await take('first-link', link)
  const account = await logIn()
  await takeAll(account, 'empty-')
  await sendOrdinaryMail(url, key)
  await takeAll(account, '')
} finally {
  await stop()
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
