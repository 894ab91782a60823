import { connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'

/** A way to the database on which connections can go silent: nothing arrives any more, and nobody is told. */
export interface SilentProxy {
  readonly url: string
  /** Every connection there is goes silent for good, as after a lost NAT entry; new ones work. */
  silence(): void
  /** The same, but what is asked still arrives; only the answers do not. */
  mute(): void
  /** New connections are silent too, until `heal`: as of an address that nobody answers at any more. */
  swallow(): void
  heal(): void
}

interface Pair {
  readonly client: Socket
  readonly database: Socket | undefined
  hearsClient: boolean
  hearsDatabase: boolean
}

export async function startSilentProxy(t: Test, databaseUrl: string): Promise<SilentProxy> {
  const url = new URL(databaseUrl)
  const target = { host: url.hostname, port: Number(url.port) }
  const pairs = new Set<Pair>()
  let swallowing = false
  const server = createServer((client) => {
    const heard = !swallowing
    const pair: Pair = {
      client,
      database: heard ? connect(target) : undefined,
      hearsClient: heard,
      hearsDatabase: heard,
    }
    pairs.add(pair)
    client.on('data', (chunk: Buffer) => pair.hearsClient && pair.database?.write(chunk))
    pair.database?.on('data', (chunk: Buffer) => pair.hearsDatabase && client.write(chunk))
    // Of the end of a silent connection nobody hears either.
    client.on('error', () => {}).on('close', () => pair.hearsClient && pair.database?.destroy())
    pair.database?.on('error', () => {}).on('close', () => pair.hearsDatabase && client.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    for (const { client, database } of pairs) {
      client.destroy()
      database?.destroy()
    }
    await new Promise((resolve) => server.close(resolve))
  })
  const mute = (): void => {
    for (const pair of pairs) pair.hearsDatabase = false
  }
  const silence = (): void => {
    mute()
    for (const pair of pairs) pair.hearsClient = false
  }
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as { port: number }).port)
  return {
    url: url.href,
    silence,
    mute,
    swallow() {
      swallowing = true
      silence()
    },
    heal() {
      swallowing = false
    },
  }
}
