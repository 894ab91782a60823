import { execFile } from 'node:child_process'
import type { Environment } from '../config/config-error.ts'
import type { Log } from './log.ts'

/**
 * Reports to systemd that the process is ready, if it is a service of Type=notify. Runs systemd-notify, because Node has no datagram sockets of the
 * family AF_UNIX.
 */
export function notifyReady(env: Environment, log: Log): void {
  // The processes of a supervisor inherit its variables.
  if (!env.NOTIFY_SOCKET || process.send) return
  const { NOTIFY_SOCKET, PATH } = env
  execFile('systemd-notify', ['--ready'], { env: { NOTIFY_SOCKET, PATH } }, (err) => {
    if (err) log.error({ err }, 'could not notify systemd')
  })
}
