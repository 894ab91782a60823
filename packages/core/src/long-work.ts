/**
 * Long work on the main loop in pieces: everybody else has a turn between two of them, and of all long works one piece is done in
 * a turn, however many there are.
 */
export interface LongWork {
  /** Answers at once unless this piece has lasted long enough. */
  pause(): Promise<void> | undefined
}

/** Milliseconds of a piece. */
const PIECE = 10

let last: Promise<void> = Promise.resolve()

export function longWork(): LongWork {
  let began = performance.now()
  return {
    pause() {
      if (performance.now() - began < PIECE) return undefined
      last = last.then(nextTurn)
      return last.then(() => {
        began = performance.now()
      })
    },
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
