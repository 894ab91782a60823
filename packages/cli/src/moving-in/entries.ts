import { COUNTED } from '@postrider/core'
import { isRecord, list, text, unlike } from './reading.ts'
import type { Bounds, Source } from './source.ts'

/** An address on a list of the source. */
export interface SourceEntry {
  readonly email: string
  /** 0: all mail. */
  readonly group: number
  /** Unix seconds; undefined: it does not say. */
  readonly created: number | undefined
  /** Why an address bounced, or from where it complained: not copied. */
  readonly told: boolean
  /** It is not an entry at all. */
  readonly broken?: true
}

/** Entries of a list, some at a time; `cut`: it goes on, but the source does not give the rest. */
export interface Reading {
  readonly pages: AsyncIterable<readonly SourceEntry[]>
  readonly cut: () => string | undefined
}

/** The most a v3 API gives (v3 contract 1.7). */
const PAGE = 500
/** The highest time the API of this service takes. */
const LATEST = 253_402_300_799

interface Span {
  readonly from: number
  readonly to: number
}

/**
 * One of /v3/suppression/…, to its end. A long list is read by spans of time that are halved until each is short enough for
 * offsets; no more than one span is in memory.
 */
export function readEntries(source: Source, path: string, bounds: Bounds): Reading {
  let cut: string | undefined
  let total = 0

  async function* by(span: Span | undefined): AsyncGenerator<readonly SourceEntry[]> {
    const kept: (readonly SourceEntry[])[] = []
    let count = 0
    const instant = span !== undefined && span.from === span.to
    const query = span ? queryOf(span) : ''
    for await (const page of byOffset(source, path, query)) {
      count += page.length
      if ((total += page.length) > bounds.entries) throw unlike(path, `more than ${bounds.entries} entries`)
      if (span && page.some(({ created = span.from }) => created < span.from || created > span.to)) {
        throw unlike(path, 'entries of other times than start_time and end_time say')
      }
      if (instant) yield page
      else kept.push(page)
      if (!instant && count > bounds.span) return yield* halves(span ?? { from: 0, to: LATEST }, kept.flat())
    }
    // What this service does beyond its last offset, so nobody can tell whether that was all.
    if (instant && count === COUNTED) cut = `${path}: ${COUNTED} entries of one second were read, there may be more`
    yield* kept
  }

  async function* halves({ from, to }: Span, seen: readonly SourceEntry[]): AsyncGenerator<readonly SourceEntry[]> {
    const times = seen.map(({ created = from }) => created).sort((one, other) => one - other)
    const middle = Math.min(Math.max(times[times.length >> 1] ?? from, from), to - 1)
    yield* by({ from, to: middle })
    yield* by({ from: middle + 1, to })
  }

  return { pages: by(undefined), cut: () => cut }
}

/** An open end is not said: others may take no time so far away. */
function queryOf({ from, to }: Span): string {
  return `${from > 0 ? `&start_time=${from}` : ''}${to < LATEST ? `&end_time=${to}` : ''}`
}

/** Who left which group. There are no spans of time to ask for. */
export function readGroupEntries(source: Source, bounds: Bounds): Reading {
  const path = '/v3/asm/suppressions'
  let cut: string | undefined
  async function* pages(): AsyncGenerator<readonly SourceEntry[]> {
    let total = 0
    for await (const page of byOffset(source, path, '')) {
      if ((total += page.length) > bounds.entries) throw unlike(path, `more than ${bounds.entries} entries`)
      yield page
    }
    if (total === COUNTED) cut = `${path}: ${COUNTED} entries were read, there may be more`
  }
  return { pages: pages(), cut: () => cut }
}

/** Pages until an empty one: a server whose pages are shorter than asked for is read to its end too. */
async function* byOffset(source: Source, path: string, query: string): AsyncGenerator<readonly SourceEntry[]> {
  let last = ''
  for (let offset = 0; ; ) {
    const page = list(await source.get(`${path}?limit=${PAGE}&offset=${offset}${query}`), path)
    if (page.length === 0) return
    const now = JSON.stringify(page)
    if (now === last) throw unlike(path, 'the same page again, so it does not heed offset')
    last = now
    yield page.map(entryOf)
    // It gives everything at once.
    if (page.length > PAGE) return
    offset += page.length
  }
}

function entryOf(one: unknown): SourceEntry {
  if (!isRecord(one)) return { email: '', group: 0, created: undefined, told: false, broken: true }
  const { email, group_id, created, created_at, reason, ip } = one
  const time = Number(created ?? created_at)
  return {
    email: text(email),
    group: Number.isSafeInteger(group_id) ? Number(group_id) : 0,
    created: Number.isInteger(time) && time > 0 && time <= LATEST ? time : undefined,
    told: text(reason) !== '' || text(ip) !== '',
  }
}
