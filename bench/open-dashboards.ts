import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { httpLoad } from './harness/load.ts'
import { makeCall } from './harness/messages.ts'
import { start, stopAll } from './harness/processes.ts'
import { alternate, pairedRatio, ratioOf } from './harness/rounds.ts'
import { openService } from './harness/service.ts'
import { startSmtpSink } from './harness/sink.ts'

/**
 * What open pages of the dashboard cost one API process: memory and processor time of 500 that nothing happens on, and calls accepted per second
 * (2 kB, 64 connections) beside 100 that follow the account, against none. `node bench/open-dashboards.ts [--rounds N] [--seconds N]`.
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, seconds: { type: 'string', default: '10' } },
})
const QUIET = 500
const BUSY = 100
/** A visitor may have 12 streams. */
const PER_VISITOR = 12
const PASSWORD = 'a horse carries letters'

try {
  const service = await openService()
  await service.start('api')
  // The worker numbers the events that pages follow.
  const sink = await startSmtpSink()
  await service.start('delivery', { sinkPort: sink.port })
  const api = pidOf('packages/api/src/server.ts')
  const cookies = await makeVisitors(Math.ceil(QUIET / PER_VISITOR))
  const openPages = async (count: number, output: (text: string) => void = () => {}) => {
    const said: string[] = []
    const pages = await start(
      process.execPath,
      [
        'bench/load/dashboards.ts',
        service.apiUrl,
        `/app/${service.accountId}/messages`,
        await liveUrl(),
        String(count),
        ...cookies,
      ],
      {
        output(text) {
          said.push(text)
          output(text)
        },
      },
    )
    while (!said.join('').includes('started')) await sleep(50)
    return pages
  }

  /** The stream of the page as it is now; one of an older page would be told at once that something changed. */
  async function liveUrl(): Promise<string> {
    const response = await fetch(`${service.apiUrl}/app/${service.accountId}/messages`, {
      headers: { cookie: cookies[0] as string },
    })
    const [, url] = /data-live="([^"]+)"/.exec(await response.text()) ?? []
    if (!url) throw new Error(`the page names no stream, status ${response.status}`)
    return url.replaceAll('&amp;', '&')
  }

  const accept = async () => {
    const body = makeCall(`desk@${service.domain}`, 2000, 1)
    const load = { url: `${service.apiUrl}/v2/sendEmail`, apiKey: service.apiKey, body, connections: 64 }
    return (await httpLoad(load, Number(options.seconds))).perSecond
  }
  await accept()
  await service.drained()
  await sleep(3000)
  const [memory, from] = [residentKib(api), processorSeconds(api)]
  await sleep(5000)
  const idle = processorSeconds(api) - from
  const quiet = await openPages(QUIET)
  await sleep(3000)
  const before = processorSeconds(api)
  await sleep(10_000)
  const used = (processorSeconds(api) - before) / 10 - idle / 5
  console.log(
    `${QUIET} open pages: ${Math.round((residentKib(api) - memory) / 1024)} MiB, ${(100 * used).toFixed(1)} % of a processor`,
  )
  await quiet.stop()

  const beside = async () => {
    const pages = await openPages(BUSY, (text) => text.includes('refreshes') && console.log(`  ${text.trim()}`))
    try {
      return await accept()
    } finally {
      await pages.stop()
    }
  }
  const found = await alternate({ beside, alone: accept }, Number(options.rounds), (text) => console.log(text))
  const { mean, error } = pairedRatio(found.beside ?? [], found.alone ?? [])
  console.log(
    `accepted beside ${BUSY} open pages, against none: ${ratioOf(found)?.toFixed(3)} by medians, ${mean.toFixed(3)} ± ${error.toFixed(3)} by rounds`,
  )
  await service.close()

  /** Cookies of users who may see the account. */
  async function makeVisitors(count: number): Promise<string[]> {
    const { people } = service.core
    const by = { keyId: null, address: null }
    const made: string[] = []
    for (let n = 0; n < count; n++) {
      const email = `reader${n}@people.example`
      const userId = await people.users.create({ name: `Reader ${n}`, email }, by)
      await people.users.changePassword(userId, PASSWORD, { sessionId: 0, address: `10.8.${n}.1` })
      await people.members.add(service.accountId, userId, 'support', by)
      const result = await people.logIn({ email, password: PASSWORD, address: `10.9.${n}.1` })
      if (result.kind !== 'session') throw new Error(`no session: ${result.kind}`)
      made.push(`postrider=${encodeURIComponent(result.token)}`)
    }
    return made
  }
} finally {
  await stopAll()
}

/** The child of this process whose command line has this text. */
function pidOf(text: string): number {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').map(Number)
  return children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text)) as number
}

function residentKib(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}

function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}
