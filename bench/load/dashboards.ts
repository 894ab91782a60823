import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Open pages of the dashboard, as browsers keep them: `dashboards.ts BASE PATH LIVE PAGES COOKIE…` follows a live stream for each page, by the cookies in
 * turn, and, when told that something changed, requests the page, at most every 0.7 s (packages/ui/assets/page.js). Prints `started` once all streams are
 * open, and on SIGTERM how many refreshes there were and how long they took. It reads with node:http, since it shares the processors with what is
 * measured: `fetch` took 1 % of them.
 */
const [base, path, live, pages, ...cookies] = process.argv.slice(2) as [string, string, string, string, ...string[]]
const MIN_INTERVAL_MS = 700
const agent = new Agent({ keepAlive: true })
const times: number[] = []
/** Pages that were answered with another status than 200, by status. */
const refused = new Map<number, number>()
let open = 0
let isStopping = false

await Promise.all(Array.from({ length: Number(pages) }, (_, n) => openPage(cookies[n % cookies.length] as string)))
process.stdout.write(`started ${open}\n`)
process.on('SIGTERM', () => {
  isStopping = true
  times.sort((a, b) => a - b)
  const at = (part: number) => (times[Math.floor(times.length * part)] ?? 0).toFixed(0)
  process.stdout.write(
    `refreshes ${times.length} p50 ${at(0.5)} p95 ${at(0.95)} ms, refused ${JSON.stringify([...refused])}\n`,
    () => process.exit(0),
  )
})

async function openPage(cookie: string): Promise<void> {
  const [response] = (await once(get(`${base}${live}`, { headers: { cookie } }), 'response')) as [IncomingMessage]
  if (response.statusCode !== 200) throw new Error(`the stream was refused with ${response.statusCode}`)
  open++
  let waiting = false
  let last = 0
  response.on('close', () => {
    if (!isStopping) throw new Error('the stream was closed')
  })
  response.on('data', (chunk: Buffer) => {
    if (waiting || !chunk.includes('event: changed')) return
    waiting = true
    void refresh()
  })

  async function refresh(): Promise<void> {
    await sleep(Math.max(0, MIN_INTERVAL_MS - (performance.now() - last)))
    waiting = false
    last = performance.now()
    const headers = { cookie, 'x-page-refresh': '1', 'accept-encoding': 'br' }
    const [page] = (await once(get(`${base}${path}`, { headers, agent }), 'response')) as [IncomingMessage]
    await once(page.resume(), 'end')
    const { statusCode = 0 } = page
    if (statusCode === 200) times.push(performance.now() - last)
    else refused.set(statusCode, (refused.get(statusCode) ?? 0) + 1)
  }
}
