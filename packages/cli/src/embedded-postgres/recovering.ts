import { findBinaries } from './binaries.ts'
import { clusterOf, readPassword } from './cluster.ts'
import { freePort } from './free-port.ts'
import { asOrdinaryUser, giveTo } from './ordinary-user.ts'
import { Server } from './server.ts'
import { SERVER_SETTINGS } from './settings.ts'

/** A server on a restored cluster, which accepts changes. */
export interface RecoveredServer {
  readonly url: string
  stop(): Promise<void>
}

export interface RecoveringOptions {
  /** Has a cluster with recovery.signal, and the file of its password. */
  readonly dataDir: string
  readonly logFile: string
  /** Further `name=value` settings: what is recovered. */
  readonly settings: readonly string[]
  /** Further variables of its environment. */
  readonly env: NodeJS.ProcessEnv
  readonly report: (line: string) => void
}

/** Starts a server and waits until recovery has ended. Throws CommandError with the server's last error if it fails. */
export async function startRecovered({
  dataDir,
  logFile,
  settings,
  env,
  report,
}: RecoveringOptions): Promise<RecoveredServer> {
  const cluster = clusterOf(dataDir)
  const port = await freePort()
  giveTo(asOrdinaryUser(cluster), cluster)
  const server = new Server({
    binaries: findBinaries(),
    env,
    cluster,
    port,
    // Without hot_standby the server is ready when recovery has ended.
    settings: [...SERVER_SETTINGS, 'hot_standby=off', ...settings],
    logFile,
    report,
    // A second attempt would fail in the same way.
    firstStarts: 1,
  })
  try {
    await server.start()
  } catch (error) {
    await server.stop()
    throw error
  }
  return {
    url: `postgres://postrider:${readPassword(dataDir)}@127.0.0.1:${port}/postgres`,
    stop: () => server.stop(),
  }
}
