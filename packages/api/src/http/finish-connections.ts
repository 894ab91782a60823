import type { Server } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { stopListening } from '@postrider/core'

/** Milliseconds in which clients use, or give up, a connection that they have opened. */
const FINISH_MS = 2000

/**
 * Stops listening on an inherited socket. The connections that this process has accepted are served for two seconds; their responses ask clients to
 * open another one. If they were closed now, calls that are on their way would fail.
 */
export async function finishConnections(server: Server): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const expired = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, FINISH_MS)
  })
  await Promise.race([stopListening(server), expired])
  clearTimeout(timer)
  // All that had arrived by then is read first: a busy host may have let this process read nothing for the two seconds.
  await setImmediate()
}
