import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { html, render } from '@postrider/ui'
import t from 'tap'

/**
 * Links are written as the routes have them, /app/…, everywhere. The path of PUBLIC_URL is known where something leaves the process, and nowhere
 * else: no page can forget it, and none can add it twice.
 */
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SOURCES = globSync('packages/*/src/**/*.ts', { cwd: ROOT }).sort()
const text = new Map(SOURCES.map((file) => [file, readFileSync(`${ROOT}/${file}`, 'utf8')]))

const KNOW_THE_PATH = [
  'packages/api/src/app.ts',
  'packages/api/src/docs/site.ts',
  'packages/api/src/http/malformed.ts',
  'packages/api/src/http/public-path.ts',
  'packages/api/src/openapi.ts',
  'packages/core/src/platform/config/public-url.ts',
  'packages/dashboard/src/dashboard.ts',
  'packages/dashboard/src/frame/cookies/cookie-place.ts',
  'packages/dashboard/src/frame/forms/undo.ts',
  'packages/dashboard/src/frame/preferences.ts',
  'packages/dashboard/src/frame/send.ts',
  'packages/ui/src/html.ts',
]
const SET_COOKIES = ['cookies/attempt-cookie.ts', 'forms/undo.ts', 'preferences.ts', 'visitor.ts'].map(
  (file) => `packages/dashboard/src/frame/${file}`,
)
/** Attributes that get the path, and the hidden field with a path of the routes, to which the redirect adds it. */
const GET_THE_PATH = ['action', 'data-from', 'data-live', 'formaction', 'href', 'src']
const OF_ROUTES = ['value']
/** Attributes of HTML and htmx that browsers read as URLs, too, of which no page has one. */
const OTHER_URLS = /\s(?:srcset|poster|cite|ping|background|manifest|object-data|xlink:href|hx-\w+|data-hx-\w+)="/

const filesWith = (pattern: RegExp) => SOURCES.filter((file) => pattern.test(text.get(file) ?? ''))

t.test('links of a page get the path of PUBLIC_URL, and nothing else does', async (t) => {
  const quoted = ' href="/app"'
  const page = html`<a href="/app">${quoted}</a><form action="${'/app/login'}" title="${quoted}"><input value="/app" formaction="/app/a"></form>
    <use href="/app/-/icons.svg#x"/><img src="/docs/images/a.png"><i data-live="/app/live" data-from="/app/b" data-live=""></i>
    <a href="//host/a"></a><a href="https://host/app"></a><a href="#a"></a><a href="?q=/app"></a><a
href="/docs"></a>`
  const plain = await render(page)
  const own = await render(page, '/mail')
  t.equal(own.replaceAll('"/mail/', '"/'), plain)
  t.equal(await render(page, ''), plain)
  t.strictSame(
    [...own.matchAll(/"(\/mail[^"]*)"/g)].map(([, url]) => url),
    [
      '/mail/app',
      '/mail/app/login',
      '/mail/app/a',
      '/mail/app/-/icons.svg#x',
      '/mail/docs/images/a.png',
      '/mail/app/live',
      '/mail/app/b',
      '/mail/docs',
    ],
  )
})

t.test('the path of PUBLIC_URL is known only where something leaves the process', async (t) => {
  t.strictSame(filesWith(/\bpublicPath\b/), KNOW_THE_PATH)
})

t.test('a path stands only in attributes that get the path of PUBLIC_URL', async (t) => {
  const others = [...text].flatMap(([file, source]) =>
    [...source.matchAll(/\s([\w:-]+)="\/[\w$]/g)]
      .filter(([, name = '']) => !GET_THE_PATH.includes(name) && !OF_ROUTES.includes(name))
      .map(([found]) => `${file}: ${found.trim()}`),
  )
  t.strictSame(others, [])
  t.strictSame(filesWith(OTHER_URLS), [])
  for (const file of globSync('packages/ui/assets/*.{js,css}', { cwd: ROOT }))
    t.notMatch(
      readFileSync(`${ROOT}/${file}`, 'utf8'),
      /['"`(]\/[a-z]/,
      `${file}: a script or a style knows no path of the service`,
    )
})

t.test('URLs are made by adding a path to PUBLIC_URL, whose own path is kept', async (t) => {
  t.strictSame(filesWith(/new URL\([^()]+,[^()]*publicUrl/), [], 'a URL that is resolved against it loses its path')
  t.strictSame(filesWith(/origin\}?\//), [], 'its origin is not its beginning')
})

t.test('cookies are set where their path is known', async (t) => {
  t.strictSame(filesWith(/\b(?:setCookie|clearCookie)\(|'set-cookie'/), SET_COOKIES)
})
