import { type Config, type Core, createCore, createLog, migrate, openDatabase } from '@postrider/core'
import { startEmbeddedPostgres } from './embedded-postgres.ts'

/** Runs `act` on this installation's database: the `external` one, or the embedded one, which is started for the time when it isn't running. */
export async function withInstallation<T>(
  config: Config,
  external: string | undefined,
  act: (core: Core) => Promise<T>,
): Promise<T> {
  const embedded = external ? undefined : await startEmbeddedPostgres({ dataDir: config.dataDir })
  try {
    const sql = openDatabase({ url: embedded?.url ?? (external as string), name: 'command', connections: 2 })
    await migrate(sql)
    const core = createCore({ sql, config, log: createLog('command', 'silent') })
    try {
      return await act(core)
    } finally {
      await core.close()
    }
  } finally {
    await embedded?.stop()
  }
}
