import { COUNTED } from '@postrider/core'
import { isRecord, list, text, unexpectedResponse } from './reading.ts'
import type { Bounds, Source } from './source.ts'

/** An address on one of the source's lists. */
export interface SourceEntry {
  readonly email: string
  /** 0 means all mail. */
  readonly group: number
  /** Unix seconds; undefined if the source gives none. */
  readonly created: number | undefined
  /** The reason and the enhanced status code of a bounce; empty if it has none. */
  readonly told: string
  readonly status: string
  /** The entry has the IP address of a complaint, which is not imported. */
  readonly hasAddress: boolean
  /** The entry is not an object. */
  readonly broken?: true
}

/** Entries of a list, page by page. `cut` returns a message if the list continues but the source does not return the rest. */
export interface Reading {
  readonly pages: AsyncIterable<readonly SourceEntry[]>
  readonly cut: () => string | undefined
}

/** The largest page of a v3 API (v3 contract 1.7). */
const PAGE = 500
/** The latest time that Postrider's API accepts. */
const LATEST = 253_402_300_799

interface Span {
  readonly from: number
  readonly to: number
}

/**
 * Reads one of /v3/suppression/… completely. A long list is read by date range; ranges are halved until each is short enough for
 * offsets. At most one range is in memory.
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
      if ((total += page.length) > bounds.entries) throw unexpectedResponse(path, `more than ${bounds.entries} entries`)
      if (span && page.some(({ created = span.from }) => created < span.from || created > span.to)) {
        throw unexpectedResponse(path, 'entries outside start_time and end_time')
      }
      if (instant) yield page
      else kept.push(page)
      if (!instant && count > bounds.span) return yield* halves(span ?? { from: 0, to: LATEST }, kept.flat())
    }
    // Postrider returns nothing after its last offset, so it is unknown whether that was all.
    if (instant && count === COUNTED) cut = `${path}: ${COUNTED} entries of one second were read; there may be more`
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

/** Omits the limits of an open range: other implementations may reject times that far away. */
function queryOf({ from, to }: Span): string {
  return `${from > 0 ? `&start_time=${from}` : ''}${to < LATEST ? `&end_time=${to}` : ''}`
}

/** Reads the unsubscribes of all groups. This list has no filter by time. */
export function readGroupEntries(source: Source, bounds: Bounds): Reading {
  const path = '/v3/asm/suppressions'
  let cut: string | undefined
  async function* pages(): AsyncGenerator<readonly SourceEntry[]> {
    let total = 0
    for await (const page of byOffset(source, path, '')) {
      if ((total += page.length) > bounds.entries) throw unexpectedResponse(path, `more than ${bounds.entries} entries`)
      yield page
    }
    if (total === COUNTED) cut = `${path}: ${COUNTED} entries were read; there may be more`
  }
  return { pages: pages(), cut: () => cut }
}

/** Reads pages until an empty one, so that a server with shorter pages than requested is read completely, too. */
async function* byOffset(source: Source, path: string, query: string): AsyncGenerator<readonly SourceEntry[]> {
  let last = ''
  for (let offset = 0; ; ) {
    const page = list(await source.get(`${path}?limit=${PAGE}&offset=${offset}${query}`), path)
    if (page.length === 0) return
    const now = JSON.stringify(page)
    // A list that knows no pages has all its entries in each answer.
    if (now === last && page.length < PAGE) return
    if (now === last) throw unexpectedResponse(path, 'the same page twice; offset is ignored')
    last = now
    yield page.map(entryOf)
    // The server ignores limit and returned everything.
    if (page.length > PAGE) return
    offset += page.length
  }
}

const NOTHING: SourceEntry = { email: '', group: 0, created: undefined, told: '', status: '', hasAddress: false }

function entryOf(one: unknown): SourceEntry {
  if (!isRecord(one)) return { ...NOTHING, broken: true }
  const { email, group_id, created, created_at, reason, status, ip } = one
  const time = Number(created ?? created_at)
  return {
    email: text(email),
    group: Number.isSafeInteger(group_id) ? Number(group_id) : 0,
    created: Number.isInteger(time) && time > 0 && time <= LATEST ? time : undefined,
    told: text(reason),
    status: text(status),
    hasAddress: text(ip) !== '',
  }
}
