/**
 * Milliseconds on the clock of one turn of the loop, after which what sessions send waits for the next. The platform reads up to
 * 2 MB of one socket in a turn, and 8 to 20 ms of work came with them.
 */
const SHARE = 2

let began: number | undefined

/** Goes on at once, or in the next turn where all sessions together have had their share of this one. */
export function inShareOfTurn(goOn: () => void): void {
  if (began === undefined) {
    began = performance.now()
    setImmediate(forget)
  }
  if (performance.now() - began < SHARE) goOn()
  else setImmediate(goOn)
}

function forget(): void {
  began = undefined
}
