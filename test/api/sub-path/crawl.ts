import type { SubPathProxy } from './proxy.ts'

/** How often pages are read that differ only in ids and other values with a digit: further ones are asked for, but not read. */
const ALIKE = 3
const VALUE = /(?<=[/=])(?=[\w.-]*\d)[\w.-]+/g
/** Attributes that have a path of the routes: the field that says where a log-in leads. */
const OF_ROUTES = ['value']
/** Attributes that have the origin only: the pages to which a passkey belongs. */
const OF_ORIGIN = ['data-origin']

export interface Crawl {
  /** Status and type of each path that was asked for, with its query. */
  readonly answers: ReadonlyMap<string, readonly [status: number, type: string]>
  /** What is wrong with links. */
  readonly faults: readonly string[]
}

/**
 * Follows every link, form, script, image and stream of the pages below `within`, beginning at `start`, which are paths with the path of the service.
 * Forms that change something are not sent: whoever opens their address is led to their page, or gets it.
 */
export async function crawl(
  { origin, publicUrl }: SubPathProxy,
  { start, within, cookie = '' }: { readonly start: string; readonly within: string; readonly cookie?: string },
): Promise<Crawl> {
  const answers = new Map<string, readonly [number, string]>()
  const faults: string[] = []
  const read = new Map<string, number>()
  const waiting = [start]
  const own = new URL(publicUrl).pathname
  const isOwn = (path: string) => path === own || path.startsWith(`${own}/`)

  function linksOf(page: string, at: string): string[] {
    const found: string[] = []
    for (const [, name = '', text = ''] of page.matchAll(/\s([\w-]+)="([^"]*)"/g)) {
      const value = text.replaceAll('&amp;', '&')
      const isHere = value.startsWith('/') && !value.startsWith('//')
      if (!isHere && !value.startsWith(origin)) {
        const isRelative = ['href', 'src', 'action'].includes(name) && /^[?.]/.test(value)
        if (isRelative) found.push(new URL(value, `${origin}${at}`).href.slice(origin.length))
        continue
      }
      const path = isHere ? value : value.slice(origin.length)
      if (OF_ROUTES.includes(name) || (OF_ORIGIN.includes(name) && path === '')) continue
      if (!isOwn(path.split(/[?#]/, 1)[0] as string)) faults.push(`${at}: ${name}="${value}"`)
      else if (!name.startsWith('data-copy')) found.push(path.split('#', 1)[0] as string)
    }
    for (const [url] of page.matchAll(/https?:\/\/localhost:\d+\/[\w/.]*/g))
      if (url.startsWith(`${origin}/`) && !isOwn(url.slice(origin.length))) faults.push(`${at}: the text has ${url}`)
    return found
  }

  async function visit(path: string): Promise<void> {
    const end = new AbortController()
    const response = await fetch(`${origin}${path}`, { headers: { cookie }, redirect: 'manual', signal: end.signal })
    const type = response.headers.get('content-type')?.split(';')[0] ?? ''
    answers.set(path, [response.status, type])
    const location = response.headers.get('location')
    if (location !== null) {
      if (isOwn(location.split(/[?#]/, 1)[0] as string)) waiting.push(location)
      else faults.push(`${path}: leads to ${location}`)
    }
    const shape = path.replace(VALUE, ':id')
    const times = read.get(shape) ?? 0
    if (type !== 'text/html' || !path.startsWith(within) || times >= ALIKE || response.status >= 400) return end.abort()
    read.set(shape, times + 1)
    waiting.push(...linksOf(await response.text(), path))
  }

  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) if (!answers.has(path)) await visit(path)
  return { answers, faults: [...new Set(faults)] }
}
