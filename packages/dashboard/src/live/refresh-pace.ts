import { performance } from 'node:perf_hooks'

/** An open page: called when it should refresh itself. */
type Page = () => void

/** When open pages learn that something changed, so that they cost the API's other callers next to nothing. */
export interface RefreshPace {
  /** Tells the page soon, once for all changes until then. */
  tellSoon(page: Page): void
  /** Whether something changed that the page has not been told. */
  isWaiting(page: Page): boolean
  forget(page: Page): void
}

/** Refreshes per second of all pages of a process whose main loop is idle. */
const MAX_PER_SECOND = 40
/** And of one whose main loop is busy: 7 ms of processor time per second, and up to 20 of the database. */
const MIN_PER_SECOND = 1
/** A page is told no more often, since it would not fetch itself more often (packages/ui/assets/page.js). */
const PAGE_INTERVAL_MS = 700
const TICK_MS = 100

/**
 * While mail flows every open page is out of date all the time, and refreshing one takes the main loop some milliseconds: a hundred pages
 * that refresh whenever they can would take all of it. So they take turns, as many per second as the idle part of the main loop allows.
 */
export function createRefreshPace(): RefreshPace {
  const waiting = new Set<Page>()
  const toldAt = new WeakMap<Page, number>()
  let allowance = MAX_PER_SECOND * (TICK_MS / 1000)
  let timer: NodeJS.Timeout | undefined
  let lastTick = performance.now()
  let usage = performance.eventLoopUtilization()

  function tick(): void {
    const now = performance.now()
    const latest = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(latest, usage)
    usage = latest
    // Cubed, because a refresh also needs the database and a processor, which are busy when the loop still looks idle for a quarter.
    const perSecond = Math.max(MIN_PER_SECOND, MAX_PER_SECOND * (1 - utilization) ** 3)
    // At most what one second allows has been saved up when a first change concerns many pages.
    allowance = Math.min(perSecond, allowance + (perSecond * Math.min(now - lastTick, 1000)) / 1000)
    lastTick = now
    for (const page of waiting) {
      if (allowance < 1) break
      if (now - (toldAt.get(page) ?? -Infinity) < PAGE_INTERVAL_MS) continue
      allowance--
      toldAt.set(page, now)
      waiting.delete(page)
      page()
    }
    timer = waiting.size > 0 ? setTimeout(tick, TICK_MS) : undefined
    timer?.unref()
  }

  return {
    tellSoon(page) {
      waiting.add(page)
      if (timer === undefined) {
        timer = setTimeout(tick, 0)
        timer.unref()
      }
    },
    isWaiting: (page) => waiting.has(page),
    forget: (page) => void waiting.delete(page),
  }
}
