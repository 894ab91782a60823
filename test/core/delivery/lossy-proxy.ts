import { connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'

/** A way to the database on which an answer can get lost. */
export interface LossyProxy {
  readonly url: string
  /**
   * The next thing the database says, or the next that has these words in it, is not passed on, and its connection breaks: what
   * was asked has been done.
   */
  loseNextAnswer(words?: string): void
  /** How many answers were lost. */
  lost(): number
}

export async function startLossyProxy(t: Test, databaseUrl: string): Promise<LossyProxy> {
  const url = new URL(databaseUrl)
  const target = { host: url.hostname, port: Number(url.port) }
  const clients = new Set<Socket>()
  let losing: string | undefined
  let lost = 0
  const server = createServer((client) => {
    clients.add(client)
    const database = connect(target)
    client.pipe(database)
    database.on('data', (chunk: Buffer) => {
      if (losing === undefined || !chunk.includes(losing)) return void client.write(chunk)
      losing = undefined
      lost++
      client.destroy()
    })
    const end = (): void => {
      clients.delete(client)
      client.destroy()
      database.destroy()
    }
    for (const socket of [client, database]) socket.on('error', end).on('close', end)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    for (const client of clients) client.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as { port: number }).port)
  return {
    url: url.href,
    loseNextAnswer(words = '') {
      losing = words
    },
    lost: () => lost,
  }
}
