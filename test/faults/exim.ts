import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts } from '../helpers/ports.ts'
import { until } from '../helpers/until.ts'

/** Debian's exim4-daemon-light, which cannot be installed beside Postfix: unpacked, with EXIM as the path of its program. */
export const EXIM = process.env.EXIM ?? '/usr/sbin/exim4'

export interface Relay {
  readonly port: number
  readonly stop: () => Promise<void>
}

/** A transport to a server on this host. */
export const transportTo = (name: string, port: number): string => `${name}:
  driver = smtp
  port = ${port}
  allow_localhost
  hosts_avoid_tls = *
`

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true))
    socket.once('error', () => resolve(false)).once('connect', () => socket.destroy())
  })
}

/** Starts Exim on a port of its own, with a queue of its own. `settings`: the rest of its configuration, routers and transports among it. */
export async function startExim(settings: string): Promise<Relay> {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-exim-'))
  const [port = 0] = await freePorts(1)
  for (const name of ['spool', 'log']) mkdirSync(join(folder, name))
  chmodSync(folder, 0o755)
  execFileSync('chown', ['-R', 'Debian-exim', folder])
  const config = join(folder, 'exim.conf')
  writeFileSync(
    config,
    `
exim_path = ${EXIM}
primary_hostname = exim.test
spool_directory = ${folder}/spool
log_file_path = ${folder}/log/%slog
keep_environment =
local_interfaces = 127.0.0.1
daemon_smtp_ports = ${port}
tls_advertise_hosts =
${settings}`,
  )
  // Refuses the configuration, or says which library is missing, before a test waits for mail.
  execFileSync(EXIM, ['-C', config, '-bV'])
  const daemon = spawn(EXIM, ['-C', config, '-bdf', '-q3s'], { stdio: 'ignore' })
  await until('Exim to listen', () => isListening(port))
  return {
    port,
    async stop() {
      const gone = new Promise((resolve) => daemon.once('exit', resolve))
      daemon.kill()
      await gone
      // A queue runner may still write its log.
      rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    },
  }
}
