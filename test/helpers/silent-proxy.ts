import { connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'

/** A way to the database on which connections can go silent: nothing arrives any more, and nobody is told. */
export interface SilentProxy {
  readonly url: string
  /** Every connection there is goes silent for good, as after a lost NAT entry; new ones work. */
  silence(): void
  /** New connections are silent too, until `heal`: as of an address that nobody answers at any more. */
  swallow(): void
  heal(): void
  /** How many connections a client holds open. */
  open(): number
}

export async function startSilentProxy(t: Test, databaseUrl: string): Promise<SilentProxy> {
  const url = new URL(databaseUrl)
  const target = { host: url.hostname, port: Number(url.port) }
  const pairs = new Set<{ client: Socket; database: Socket | undefined; silent: boolean }>()
  let swallowing = false
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const pair = {
      client,
      database: swallowing ? undefined : connect({ ...target, allowHalfOpen: true }),
      silent: swallowing,
    }
    pairs.add(pair)
    client.on('close', () => pairs.delete(pair))
    const ends = [client, pair.database] as const
    for (const [from, to] of [ends, [ends[1], ends[0]] as const]) {
      from?.on('data', (chunk: Buffer) => pair.silent || to?.write(chunk))
      from?.on('error', () => pair.silent || to?.destroy())
      from?.on('end', () => pair.silent || to?.end())
      from?.on('close', () => pair.silent || to?.destroy())
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // What the database holds of a connection that went silent stays until now.
  const databases: Socket[] = []
  t.teardown(async () => {
    for (const { client, database } of pairs) {
      client.destroy()
      database?.destroy()
    }
    for (const database of databases) database.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const silence = (): void => {
    for (const pair of pairs) {
      pair.silent = true
      if (pair.database) databases.push(pair.database)
    }
  }
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as { port: number }).port)
  return {
    url: url.href,
    silence,
    swallow() {
      swallowing = true
      silence()
    },
    heal() {
      swallowing = false
    },
    open: () => pairs.size,
  }
}
