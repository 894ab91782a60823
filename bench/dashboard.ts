import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { startInstallation } from '../test/dashboard/installation.ts'
import { sendOrdinaryMail } from '../test/dashboard/ordinary-mail.ts'
import { PICTURED } from '../test/dashboard/pictured.ts'

/**
 * Figures of the dashboard's pages: `node bench/dashboard.ts`. For each page: server time (p50 and p95 of 50 requests), octets and requests of the first
 * load, largest contentful paint with a fourth of the processor, layout shift, nodes. Then what the 12 pages that a visitor may have open cost the API process.
 */
const REQUESTS = 50
const STREAMS = 12

const { url, key, page, context, apiPid, logIn, stop } = await startInstallation()
try {
  const account = await logIn()
  await sendOrdinaryMail(url, key)
  const cookie = (await context.cookies(url)).map(({ name, value }) => `${name}=${value}`).join('; ')
  const cdp = await context.newCDPSession(page)
  console.log('page                 p50 ms  p95 ms  octets  requests  LCP ms (CPU/4)  shift   nodes')
  for (const [name, path] of PICTURED) {
    const target = typeof path === 'string' ? path : await path(page, `${url}/app/${account}`)
    if (target === undefined) continue
    const at = `${url}${target.replace(':account', account)}`
    const times = await serverTimes(at, cookie)
    const figures = await firstLoad(at)
    const numbers = [
      times.p50.toFixed(1),
      times.p95.toFixed(1),
      figures.octets,
      figures.requests,
      figures.lcp.toFixed(0),
      figures.shift.toFixed(3),
      figures.nodes,
    ]
    console.log(
      [name.padEnd(20), ...numbers.map((one, n) => String(one).padStart([6, 7, 7, 9, 15, 6, 7][n] as number))].join(
        ' ',
      ),
    )
  }
  await measureStreams(account, cookie)

  async function firstLoad(at: string) {
    await cdp.send('Network.enable')
    await cdp.send('Network.clearBrowserCache')
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: 4 })
    let octets = 0
    let requests = 0
    const count = ({ encodedDataLength }: { encodedDataLength: number }) => {
      octets += encodedDataLength
      requests++
    }
    cdp.on('Network.loadingFinished', count)
    await page.addInitScript(
      'window.figures = { lcp: 0, shift: 0 }; new PerformanceObserver((list) => { for (const entry of list.getEntries()) ' +
        "figures.lcp = entry.startTime }).observe({ type: 'largest-contentful-paint', buffered: true }); new " +
        'PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) figures.shift += ' +
        "entry.value }).observe({ type: 'layout-shift', buffered: true })",
    )
    await page.goto(at)
    await sleep(800)
    cdp.off('Network.loadingFinished', count)
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: 1 })
    const { lcp, shift } = (await page.evaluate('figures')) as { lcp: number; shift: number }
    const nodes = (await page.evaluate("document.querySelectorAll('*').length")) as number
    return { octets, requests, lcp, shift, nodes }
  }
} finally {
  await stop()
}

async function serverTimes(at: string, cookie: string): Promise<{ p50: number; p95: number }> {
  const times: number[] = []
  for (let n = 0; n < REQUESTS; n++) {
    const start = performance.now()
    const response = await fetch(at, { headers: { cookie }, redirect: 'manual' })
    await response.arrayBuffer()
    times.push(performance.now() - start)
  }
  times.sort((a, b) => a - b)
  return { p50: times[Math.floor(REQUESTS * 0.5)] as number, p95: times[Math.floor(REQUESTS * 0.95)] as number }
}

async function measureStreams(account: string, cookie: string): Promise<void> {
  const before = { memory: memory(), cpu: cpu() }
  await sleep(5000)
  const idle = cpu() - before.cpu
  const abort = new AbortController()
  let open = 0
  for (let n = 0; n < STREAMS; n++) {
    const response = await fetch(`${url}/app/${account}/live?after=1`, { headers: { cookie }, signal: abort.signal })
    if (response.status === 200) open++
    void response.text().catch(() => {})
  }
  await sleep(2000)
  const from = cpu()
  await sleep(5000)
  const used = cpu() - from
  console.log(
    `${open} streams: ${Math.round((memory() - before.memory) / 1024)} MiB, ${((100 * (used - idle)) / 5).toFixed(1)} % of a core`,
  )
  abort.abort()
}

/** KiB of resident memory of the API. */
function memory(): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${apiPid}/status`, 'utf8'))?.[1])
}

/** Seconds of processor time of the API. */
function cpu(): number {
  const fields = readFileSync(`/proc/${apiPid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}
