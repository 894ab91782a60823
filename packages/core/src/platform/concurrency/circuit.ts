/** A circuit breaker: while something is down, callers are told at once instead of waiting for it, with memory that others need. */
export interface Circuit {
  /** Runs `fn`; while it is down, throws the error of the last try instead, except once per second. */
  run<T>(fn: () => Promise<T>): Promise<T>
  isOpen(): boolean
  lastError(): unknown
}

/** Failures in a row after which it counts as down. */
const FAILURES = 3
const PROBE_MS = 1000

/** `onChange` is called when it goes down (open) and when it works again (closed). `isFault`: errors that do not count return false. */
export function createCircuit(
  onChange: (state: 'open' | 'closed', error: unknown) => void,
  isFault: (error: unknown) => boolean = () => true,
): Circuit {
  let failures = 0
  let probeAt = 0
  let last: unknown
  const isOpen = () => failures >= FAILURES

  function noteResponse(): void {
    if (isOpen()) onChange('closed', undefined)
    failures = 0
  }

  function noteFault(error: unknown): void {
    last = error
    probeAt = performance.now() + PROBE_MS
    if (++failures === FAILURES) onChange('open', error)
  }

  return {
    isOpen,
    lastError: () => last,
    async run(fn) {
      if (isOpen()) {
        if (performance.now() < probeAt) throw last
        probeAt = performance.now() + PROBE_MS
      }
      try {
        const result = await fn()
        noteResponse()
        return result
      } catch (error) {
        if (isFault(error)) noteFault(error)
        else noteResponse()
        throw error
      }
    },
  }
}
