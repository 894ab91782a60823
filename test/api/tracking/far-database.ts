import { connect, createServer, type Socket } from 'node:net'
import { buildApp } from '@postrider/api'
import { type Core, createCore, createLog, openDatabase } from '@postrider/core'
import type { Test } from 'tap'
import type { TestService } from '../../helpers/service.ts'

/** The API with a way to its database that a test can close. */
export interface FarDatabase {
  readonly base: string
  readonly core: Core
  /** Refuses every connection from now on, and breaks those there are. */
  cut(): void
  /** Takes what is said and passes nothing on. */
  hang(): void
  restore(): void
}

export async function openApiFar(t: Test, service: TestService): Promise<FarDatabase> {
  const url = new URL(service.env.DATABASE_URL as string)
  const target = { host: url.hostname, port: Number(url.port) }
  const sockets = new Set<Socket>()
  let state: 'open' | 'cut' | 'hanging' = 'open'
  const server = createServer((client) => {
    if (state === 'cut') return void client.destroy()
    const database = connect(target)
    for (const [from, to] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(from)
      from.on('data', (chunk: Buffer) => {
        if (state === 'open') to.write(chunk)
      })
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const breakAll = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as { port: number }).port)
  const log = createLog('test', 'silent')
  const sql = openDatabase({ url: url.href, name: 'test', connections: 4 })
  const core = createCore({ sql, config: service.config, log })
  await core.readiness.check()
  const app = await buildApp({ core, config: service.config, log })
  const base = await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(async () => {
    await app.close()
    core.readiness.close()
    breakAll()
    await sql.end({ timeout: 0 })
    server.close()
  })
  return {
    base,
    core,
    cut() {
      state = 'cut'
      breakAll()
    },
    hang() {
      state = 'hanging'
    },
    restore() {
      // What was said while it hung is lost, so such connections are of no use.
      if (state === 'hanging') breakAll()
      state = 'open'
    },
  }
}
