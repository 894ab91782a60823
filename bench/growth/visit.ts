import { setTimeout } from 'node:timers/promises'
import { createCore, createLog, openDatabase, readConfig } from '@postrider/core'
import type { Measured } from './call.ts'
import { fillTeam } from './counts.ts'
import type { Filled } from './fill.ts'
import type { Installation } from './installation.ts'
import { type Measuring, measured } from './measure.ts'
import type { PageVisit } from './pages.ts'

const PERSON = { name: 'Ada Lovelace', email: 'ada@large-0.example', password: 'a horse carries letters' }
/** The link to the next page of a list: the last one of its foot. */
const FOOT = /<footer class="more">.*?<\/footer>/s
const HREF = /<a [^>]*href="([^"]+)"/g
/** A page is given up after. */
const PATIENCE = 60_000

interface Visited {
  readonly milliseconds: number
  readonly status: number
  readonly text: string
}

/** Visits the pages of the dashboard as the owner of the large account, who also operates the installation. */
export async function createVisitor(installation: Installation, filled: Filled) {
  const cookie = await logIn(installation, filled)
  const { url } = installation
  const ask = async (path: string, isBeginning = false): Promise<Visited> => {
    const began = performance.now()
    const response = await fetch(`${url}${path}`, {
      headers: { cookie },
      redirect: 'manual',
      signal: AbortSignal.timeout(PATIENCE),
    }).catch((error: Error) => error)
    const since = () => performance.now() - began
    if (response instanceof Error) return { milliseconds: since(), status: 0, text: response.message }
    const { status, headers, body } = response
    if (isBeginning && status < 300) {
      const reader = body?.getReader()
      await reader?.read()
      const milliseconds = since()
      await reader?.cancel()
      return { milliseconds, status, text: '' }
    }
    const text = await response.text()
    if (status !== 429) return { milliseconds: since(), status, text }
    // A session makes 1,200 requests per minute.
    await setTimeout(Number(headers.get('retry-after')) * 1000)
    return ask(path, isBeginning)
  }
  const deep = async ({ path, page = 1 }: PageVisit): Promise<{ path: string; page: number }> => {
    let at = `/app${path.replace(':account', String(filled.large))}`
    for (let number = 1; number < page; number++) {
      const { text } = await ask(at)
      const next = nextOf(text)
      if (next === undefined) return { path: at, page: number }
      at = next
    }
    return { path: at, page }
  }
  return {
    async visit(visit: PageVisit, measuring: Measuring): Promise<Measured> {
      const { path, page } = await deep(visit)
      const reached = visit.page === undefined || visit.page === page ? '' : ` (the last is ${page})`
      const name = `page ${visit.route === '' ? 'overview' : visit.route}${visit.what && `: ${visit.what}`}${reached}`
      const one = await measured(name, () => ask(path, visit.beginning), measuring)
      if (one.status < 300) return one
      return { ...one, isOther: true, said: /<h1[^>]*>(.*?)<\/h1>/.exec(one.said ?? '')?.[1] ?? 'not a page' }
    },
  }
}

function nextOf(page: string): string | undefined {
  const foot = FOOT.exec(page)?.[0] ?? ''
  const links = [...foot.matchAll(HREF)].map(([, href]) => href?.replaceAll('&amp;', '&'))
  const next = links.at(-1)
  // The last page of a list has only links back.
  return next !== undefined && /[?&](?:after|before|offset)=/.test(next) ? next : undefined
}

/** Makes the person the first time. */
async function logIn({ url, env, sql: installed }: Installation, { large }: Filled): Promise<string> {
  const config = readConfig(env)
  const sql = openDatabase({ url: env.DATABASE_URL as string, name: 'growth', connections: 1 })
  const { people, readiness } = createCore({ sql, config, log: createLog('growth', 'error') })
  const isFirst = await people.firstLink.isNeeded()
  const link = isFirst ? { token: (await people.firstLink.create()).token } : {}
  readiness.close()
  await sql.end({ timeout: 5 })
  const response = await fetch(`${url}/app/${isFirst ? 'first' : 'login'}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ ...PERSON, ...link }),
  })
  const cookie = response.headers.getSetCookie().find((one) => one.startsWith('postrider='))
  if (!cookie) throw new Error(`no session: ${response.status} ${(await response.text()).slice(0, 500)}`)
  if (isFirst) await fillTeam(installed, large)
  return cookie.split(';')[0] as string
}
