/** Work that says where it can stop: at each `yield` others may have their turn. What is done between two takes well below 1 ms. */
export type Stoppable<T> = Generator<void, T, void>

/** Milliseconds on the clock that work keeps the loop to itself before the others have their turn. */
const TURN = 5
/** Milliseconds before it waits for its first turn: nearly everything is done by then. */
const AT_ONCE = 1

const waiting: (() => void)[] = []

/**
 * Does work without keeping anybody waiting: at once where it is short, else piece by piece, and of all that waits one piece in each
 * turn of the loop, so that a hundred costly messages hold up the others no longer than one.
 */
export function inTurns<T>(work: Stoppable<T>): T | Promise<T> {
  const first = proceed(work, AT_ONCE)
  if (first.done) return first.value
  const settle = Promise.withResolvers<T>()
  const go = (): void => {
    try {
      const { done, value } = proceed(work, TURN)
      if (done) settle.resolve(value as T)
      else wait(go)
    } catch (error) {
      settle.reject(error)
    }
  }
  wait(go)
  return settle.promise
}

function proceed<T>(work: Stoppable<T>, milliseconds: number): IteratorResult<void, T> {
  const until = performance.now() + milliseconds
  for (;;) {
    const result = work.next()
    if (result.done || performance.now() >= until) return result
  }
}

function wait(go: () => void): void {
  if (waiting.push(go) === 1) setImmediate(serve)
}

function serve(): void {
  const go = waiting.shift()
  if (waiting.length > 0) setImmediate(serve)
  go?.()
}
