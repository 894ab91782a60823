import { lookup } from 'node:dns/promises'
import net, { type BoundSocket } from 'node:net'
import type { InheritedSockets, SocketName } from '@postrider/core'

export interface HeldSocket {
  readonly name: SocketName
  readonly fd: number
  /** Closes it here. Without effect on a socket that another process holds. */
  close(): void
}

/** The listening sockets that the supervisor holds for its programs, so that they outlive each of them. */
export interface HeldSockets {
  /**
   * Binds an address, unless this process has inherited a socket of this name itself. Nothing is accepted here: the program listens on it.
   * Undefined if this platform cannot hand sockets over; then the program opens it.
   *
   * Throws the error of the system if the address is in use or cannot be bound.
   */
  hold(name: SocketName, host: string, port: number): Promise<HeldSocket | undefined>
  close(): void
}

export function heldSockets(inherited: InheritedSockets): HeldSockets {
  const bound = new Set<BoundSocket>()
  const closeOnce = (socket: BoundSocket): void => {
    if (bound.delete(socket)) socket.close()
  }
  return {
    async hold(name, host, port) {
      // A process of its own port each has them.
      const given = name === 'metrics' ? undefined : inherited.fd(name)
      if (given !== undefined) return { name, fd: given, close() {} }
      // Since Node 24.19.
      if (net.BoundSocket === undefined) return undefined
      const socket = new net.BoundSocket({ host: (await lookup(host)).address, port })
      bound.add(socket)
      const fd = socket.fd()
      return fd < 0 ? undefined : { name, fd, close: () => closeOnce(socket) }
    },
    close() {
      for (const socket of bound) closeOnce(socket)
    },
  }
}
