/**
 * Milliseconds per iteration of the event loop for what all sessions send; the rest waits for the next iteration. Node reads up to
 * 2 MB of one socket per iteration, which came with 8 to 20 ms of work.
 */
const SHARE_MS = 2

let began: number | undefined

/** Calls `goOn` immediately, or in the next iteration if the sessions have used up their share of this one. */
export function inShareOfTurn(goOn: () => void): void {
  if (began === undefined) {
    began = performance.now()
    setImmediate(reset)
  }
  if (performance.now() - began < SHARE_MS) goOn()
  else setImmediate(goOn)
}

function reset(): void {
  began = undefined
}
