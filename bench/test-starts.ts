// The processes run from a bundle, as those of the installed package.
import '../packages/launch/src/build.ts'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostrider } from '../packages/client/src/test/index.ts'
import { ROOT } from './harness/processes.ts'

/**
 * `node bench/test-starts.ts`: how long startPostrider() takes in a new folder for its cache, later, and for four at the same time; how long a message
 * takes from the call until waitFor() has it; and the size of an installation.
 */
const STARTS = 5
const MESSAGES = 20
const program = join(ROOT, 'packages/cli/src/postrider.ts')
const cache = mkdtempSync(join(tmpdir(), 'test-starts-'))
const start = () => startPostrider({ program, cache })
type Started = Awaited<ReturnType<typeof start>>

try {
  const [first, firstMs] = await timed(start)
  await first.stop()
  console.log(
    `first start ${seconds(firstMs)}, ${execFileSync('du', ['-sm', cache], { encoding: 'utf8' }).split('\t')[0]} MB kept`,
  )
  const later: number[] = []
  const stops: number[] = []
  for (let round = 0; round < STARTS; round++) {
    const [postrider, ms] = await timed(start)
    later.push(ms)
    if (round === STARTS - 1) console.log(`message after ${Math.round(median(await arrivals(postrider)))} ms`)
    stops.push((await timed(() => postrider.stop()))[1])
  }
  console.log(`later starts ${later.map(seconds).join(', ')}; stops ${stops.map(seconds).join(', ')}`)
  const [four, fourMs] = await timed(() => Promise.all([start(), start(), start(), start()]))
  console.log(`four at once ${seconds(fourMs)}`)
  await Promise.all(four.map((one) => one.stop()))
} finally {
  rmSync(cache, { recursive: true, force: true })
}

async function arrivals({ url, apiKey, inbox }: Started): Promise<number[]> {
  const times: number[] = []
  for (let count = 0; count < MESSAGES; count++) {
    const to = inbox.address()
    const body = {
      personalizations: [{ recipient: to }],
      from: { fromEmail: 'a@shop.example' },
      subject: 'a',
      content: 'a',
    }
    const headers = { api_key: apiKey, 'content-type': 'application/json' }
    const [, ms] = await timed(async () => {
      await fetch(`${url}/v2/sendEmail`, { method: 'POST', headers, body: JSON.stringify(body) })
      await inbox.waitFor({ to })
    })
    times.push(ms)
  }
  return times
}

async function timed<T>(act: () => Promise<T>): Promise<[result: T, milliseconds: number]> {
  const began = performance.now()
  const result = await act()
  return [result, performance.now() - began]
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`
}
