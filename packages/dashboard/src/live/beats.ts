/** Called regularly for one stream. */
type Beat = () => void

/** Regular checks of all streams of a process. */
export interface Beats {
  /** Calls `beat` about every four seconds, together with those of the same user. Returns a function that ends it. */
  follow(userId: number, beat: Beat): () => void
}

/** Proxies close connections that are silent for longer, and pages count the seconds since the last one. */
const BEAT_MS = 4000
/** All beats at the same moment would hold up the main loop. */
const TURNS = 8

/**
 * Streams beat in turns, and those of a turn in the same iteration of the event loop, so that their sessions are loaded together: each by
 * itself, those of a hundred streams took the API and Postgres 3 % of a processor.
 */
export function createBeats(): Beats {
  const turns = Array.from({ length: TURNS }, () => new Set<Beat>())
  let count = 0
  let turn = 0
  let timer: NodeJS.Timeout | undefined

  function next(): void {
    turn = (turn + 1) % TURNS
    for (const beat of turns[turn] as Set<Beat>) beat()
  }

  return {
    follow(userId, beat) {
      const own = turns[userId % TURNS] as Set<Beat>
      own.add(beat)
      if (count++ === 0) timer = setInterval(next, BEAT_MS / TURNS)
      return () => {
        if (!own.delete(beat)) return
        if (--count === 0) clearInterval(timer)
      }
    },
  }
}
