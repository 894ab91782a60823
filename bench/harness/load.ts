import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageFile } from './messages.ts'
import { ROOT, run } from './processes.ts'

/** Messages after which processes run at their speed: compilers learn while they are used, from some 16,000 of them (docs/performance.md). */
export const WARM_UP = 20_000

export interface SmtpLoad {
  readonly port: number
  readonly from: string
  readonly sessions: number
  readonly octets: number
  /** One connection for many messages, or one for each. */
  readonly kept: boolean
}

const files = new Map<string, string>()
let runs = 0

/**
 * Debian's smtp-source sends `messages` as fast as they are taken, each to another recipient (-N), as its manual advises: otherwise Postfix looks up
 * one address for all of them, and a worker counts each message as part of a possible loop. Returns seconds.
 */
export async function smtpSource({ port, from, sessions, octets, kept }: SmtpLoad, messages: number): Promise<number> {
  const key = `${from} ${octets}`
  const file = files.get(key) ?? messageFile(from, octets)
  files.set(key, file)
  const to = `of-${process.pid}-${++runs}@harbor.example`
  const options = ['-N', '-s', String(sessions), '-m', String(messages), ...(kept ? ['-d'] : []), '-F', file]
  const began = performance.now()
  await run('smtp-source', [...options, '-f', from, '-t', to, `127.0.0.1:${port}`])
  return (performance.now() - began) / 1000
}

/** How many messages take about `seconds`, by trying with some, after a short warm-up. */
export async function messagesFor(seconds: number, load: (messages: number) => Promise<number>): Promise<number> {
  const tried = 800
  await load(tried)
  const took = await load(tried)
  return Math.max(tried, Math.min(50_000, Math.round((tried / took) * seconds)))
}

export interface HttpLoad {
  readonly url: string
  readonly apiKey: string
  readonly body: string
  readonly connections: number
}

export interface HttpResult {
  readonly perSecond: number
  readonly succeeded: number
  readonly failed: number
  readonly p99: number
}

/** autocannon, in a process of its own. */
export async function httpLoad({ url, apiKey, body, connections }: HttpLoad, seconds: number): Promise<HttpResult> {
  const file = join(tmpdir(), `postrider-bench-${process.pid}.json`)
  writeFileSync(file, body)
  const headers = ['-H', 'content-type=application/json', '-H', `api_key=${apiKey}`]
  const out = await run(process.execPath, [
    join(ROOT, 'node_modules/autocannon/autocannon.js'),
    '-j',
    '-n',
    '-c',
    String(connections),
    '-d',
    String(seconds),
    '-m',
    'POST',
    '-i',
    file,
    ...headers,
    url,
  ])
  const result = JSON.parse(out.slice(out.indexOf('{'))) as {
    '2xx': number
    non2xx: number
    errors: number
    duration: number
    latency: { p99: number }
  }
  return {
    perSecond: result['2xx'] / result.duration,
    succeeded: result['2xx'],
    failed: result.non2xx + result.errors,
    p99: result.latency.p99,
  }
}
