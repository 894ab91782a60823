import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Open pages of the dashboard, as browsers keep them: `dashboards.ts PAGES COOKIE…` follows a live stream of each page in turn by the cookies and, when told
 * that something changed, fetches the page, at most every 0.7 s (packages/ui/assets/page.js). Prints `started` once all streams are open, and
 * on SIGTERM how many refreshes there were and how long they took.
 */
const [base, path, live, pages, ...cookies] = process.argv.slice(2) as [string, string, string, string, ...string[]]
const MIN_INTERVAL_MS = 700
const times: number[] = []
/** Pages that were answered with another status than 200, by status. */
const refused = new Map<number, number>()
let open = 0

await Promise.all(Array.from({ length: Number(pages) }, (_, n) => openPage(cookies[n % cookies.length] as string)))
process.stdout.write(`started ${open}\n`)
process.on('SIGTERM', () => {
  times.sort((a, b) => a - b)
  const at = (part: number) => (times[Math.floor(times.length * part)] ?? 0).toFixed(0)
  process.stdout.write(
    `refreshes ${times.length} p50 ${at(0.5)} p95 ${at(0.95)} ms, refused ${JSON.stringify([...refused])}\n`,
    () => process.exit(0),
  )
})

async function openPage(cookie: string): Promise<void> {
  const response = await fetch(`${base}${live}`, { headers: { cookie } })
  if (response.status !== 200 || !response.body) throw new Error(`the stream was refused with ${response.status}`)
  open++
  void follow(response.body, cookie)
}

async function follow(body: ReadableStream<Uint8Array>, cookie: string): Promise<void> {
  let waiting = false
  let last = 0
  for await (const chunk of body) {
    if (waiting || !Buffer.from(chunk).includes('event: changed')) continue
    waiting = true
    void refresh()
  }

  async function refresh(): Promise<void> {
    await sleep(Math.max(0, MIN_INTERVAL_MS - (performance.now() - last)))
    waiting = false
    last = performance.now()
    const response = await fetch(`${base}${path}`, {
      headers: { cookie, 'x-page-refresh': '1', 'accept-encoding': 'br' },
    })
    await response.arrayBuffer()
    if (response.status === 200) times.push(performance.now() - last)
    else refused.set(response.status, (refused.get(response.status) ?? 0) + 1)
  }
}
