import { Server } from 'node:net'
import { ConfigError, type Environment } from '../config/config-error.ts'

/** The names that listening sockets have in LISTEN_FDNAMES. */
export const SOCKET_NAMES = ['api', 'relay', 'relay-tls', 'returns', 'sandbox-smtp', 'sandbox-http', 'metrics'] as const
export type SocketName = (typeof SOCKET_NAMES)[number]

/** The argument of `net.Server.listen`. */
export type ListenTarget = { readonly fd: number } | { readonly host: string; readonly port: number }

/**
 * The listening sockets that this process was started with (systemd socket activation, sd_listen_fds(3)). The process that
 * started it keeps them open: while it restarts, connections wait instead of being refused.
 */
export interface InheritedSockets {
  /** The file descriptor of a socket; undefined if the process did not inherit it, and has to open it itself. */
  fd(name: SocketName): number | undefined
  /** Whether connections wait in them when this process stops: systemd keeps them, the supervisor of `npm start` closes them when it stops. */
  readonly areKept: boolean
  /** The place at which the server of this name listens: the inherited socket, or else this address. */
  target(name: SocketName, host: string, port: number): ListenTarget
}

/** The first inherited file descriptor: SD_LISTEN_FDS_START. */
const FIRST_FD = 3

/** For processes that inherit none. */
export const NO_SOCKETS: InheritedSockets = {
  fd: () => undefined,
  areKept: false,
  target: (_name, host, port) => ({ host, port }),
}

/**
 * Reads LISTEN_FDS, LISTEN_FDNAMES and LISTEN_PID. They count only if LISTEN_PID is the id of this process, since
 * children inherit variables of their parents; a `supervised` process, which was started by our own supervisor, has no
 * LISTEN_PID, because that is not known before the start.
 *
 * Throws {@link ConfigError} if a socket has another name than one of SOCKET_NAMES, or two have the same.
 */
export function inheritedSockets(
  env: Environment,
  { pid, supervised }: { readonly pid: number; readonly supervised: boolean },
): InheritedSockets {
  const isOurs = env.LISTEN_PID ? env.LISTEN_PID === String(pid) : supervised
  const count = Number(env.LISTEN_FDS || 0)
  if (!isOurs || !(count > 0)) return NO_SOCKETS
  const names = (env.LISTEN_FDNAMES ?? '').split(':')
  const fds = new Map<SocketName, number>()
  for (let at = 0; at < count; at++) {
    const name = SOCKET_NAMES.find((one) => one === names[at])
    if (!name) {
      const problem = `must have one of these names for each socket: ${SOCKET_NAMES.join(
        ', ' + '',
      )} (got "${names[at] ?? ''}"); set FileDescriptorName in the socket unit`
      throw new ConfigError('LISTEN_FDNAMES', problem)
    }
    if (fds.has(name)) throw new ConfigError('LISTEN_FDNAMES', `must have each name once (got "${name}" twice)`)
    fds.set(name, FIRST_FD + at)
  }
  return inherited(fds, Boolean(env.LISTEN_PID))
}

function inherited(fds: ReadonlyMap<SocketName, number>, areKept: boolean): InheritedSockets {
  return {
    fd: (name) => fds.get(name),
    areKept,
    target(name, host, port) {
      const fd = fds.get(name)
      return fd === undefined ? { host, port } : { fd }
    },
  }
}

/** Listens; rejects if the address is in use or the descriptor is not a socket. */
export function listen(server: Server, target: ListenTarget): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(target, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

/**
 * Accepts no new connections on an inherited socket: other processes accept them, or they wait for the next one. The connections that are open
 * go on. Resolves when the last one has ended.
 */
export function stopListening(server: Server): Promise<void> {
  // The method of an HTTP server closes its idle connections, too, on which a request may be on its way.
  return new Promise((resolve) => Server.prototype.close.call(server, () => resolve()))
}
