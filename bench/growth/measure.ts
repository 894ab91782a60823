import { readFileSync, statSync } from 'node:fs'
import { type Call, type Measured, percentile } from './call.ts'
import type { Processor } from './processor.ts'

/** Runs of one call: as many as fit, at least and at most. The first one warms up and does not count. */
const RUNS = { least: 3, milliseconds: 3000 }
/** What refusals for the size of an account say. */
const TOO_LARGE = /use a shorter|would (?:read|scan) more than/
/** A call is given up after. */
const PATIENCE = 60_000

export interface Doors {
  readonly url: string
  readonly apiKey: string
}

interface Answer {
  readonly milliseconds: number
  readonly status: number
  readonly text: string
}

export interface Measuring {
  /** Runs of one call. */
  readonly most: number
  readonly processor: Processor
  /** Takes what is read of the database out of memory before the first run; undefined to measure only warm ones. */
  readonly cool?: (() => Promise<void>) | undefined
}

export async function measureCall(doors: Doors, call: Call, measuring: Measuring): Promise<Measured> {
  const name = `${call.api} ${call.operation}${call.what === '' ? '' : `: ${call.what}`}`
  const path = call.scroll === undefined ? call.path : await scrolled(doors, call, call.scroll)
  const one = await measured(name, () => ask(doors, { ...call, path }), measuring)
  return { ...one, isRefused: call.isTooMuch !== true && TOO_LARGE.test(one.said ?? '') }
}

export async function measured(
  name: string,
  act: () => Promise<Answer>,
  { most, processor, cool }: Measuring,
): Promise<Measured> {
  const times: number[] = []
  await cool?.()
  let last = await act()
  const cold = cool && last.milliseconds
  const before = await processor()
  const began = performance.now()
  const spent = (): number => performance.now() - began
  // One that takes long is not asked again and again.
  const least = last.milliseconds > RUNS.milliseconds ? 1 : RUNS.least
  while (times.length < least || (times.length < most && spent() < RUNS.milliseconds)) {
    last = await act()
    times.push(last.milliseconds)
  }
  const onProcessor = ((await processor()) - before) / times.length
  const { status, text } = last
  const p = { p50: percentile(times, 0.5), p95: percentile(times, 0.95) }
  return {
    name,
    status,
    times,
    ...(cold === undefined ? {} : { cold }),
    ...p,
    processor: onProcessor,
    plans: [],
    ...(status < 400 ? {} : { said: text.slice(0, 300) }),
  }
}

/** The path of the n-th page. */
async function scrolled(doors: Doors, call: Call, pages: number): Promise<string> {
  let path = call.path
  for (let page = 1; page < pages; page++) {
    const { text } = await ask(doors, { ...call, path })
    const { scrollid, next } = JSON.parse(text) as { scrollid?: string; next?: string | null }
    // Lists of messages have a cursor.
    if (scrollid === undefined && !next) return path
    if (next) path = `${call.path}&cursor=${next}`
    else path = `${call.path.replace('limit=1000', 'limit=5000')}&scrollid=${scrollid}`
  }
  return path
}

async function ask({ url, apiKey }: Doors, { api, method, path, body, beginning }: Call): Promise<Answer> {
  const began = performance.now()
  const key: Record<string, string> = api === 'v2' ? { api_key: apiKey } : { authorization: `Bearer ${apiKey}` }
  const response = await fetch(`${url}/${api}${path.replaceAll(' ', '%20')}`, {
    method,
    headers: { ...key, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
    signal: AbortSignal.timeout(PATIENCE),
  }).catch((error: Error) => error)
  if (response instanceof Error) return { milliseconds: performance.now() - began, status: 0, text: response.message }
  if (!beginning)
    return { text: await response.text(), milliseconds: performance.now() - began, status: response.status }
  const reader = response.body?.getReader()
  await reader?.read()
  const milliseconds = performance.now() - began
  await reader?.cancel()
  return { text: '', milliseconds, status: response.status }
}

/** Statements above the bound, as auto_explain wrote them into the server's log since this was made. */
export function watchPlans(logFile: string): () => string[] {
  let read = statSync(logFile).size
  return () => {
    const text = readFileSync(logFile).subarray(read)
    read += text.length
    return text
      .toString()
      .split(/^\d{4}-\d\d-\d\d [^\n]*LOG: +/m)
      .filter((entry) => /^duration: .*plan:/.test(entry))
  }
}
