import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { timerDelay } from '@postrider/core'

export interface UnusedConnections {
  /**
   * Closes the connections on which nothing has arrived now, and those on which no complete request header arrives
   * within `graceMs`. To be called when the server stops.
   */
  close(graceMs: number): void
}

/**
 * Tracks the connections that have not carried a request yet. Node counts them neither as idle nor, once the server
 * closes, against the header timeout, so each would delay shutdown until its client ends it. Browsers and fetch open
 * such spare connections on their own: API processes took the full drain time to stop, and then exited with an error.
 */
export function trackUnusedConnections(server: Server): UnusedConnections {
  const unused = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  server.on('request', ({ socket }) => unused.delete(socket))
  return {
    close(graceMs) {
      for (const socket of unused) if (socket.bytesRead === 0) socket.destroy()
      setTimeout(() => {
        for (const socket of unused) socket.destroy()
      }, timerDelay(graceMs)).unref()
    },
  }
}
