import { Worker } from 'node:worker_threads'
import type { Door } from './row.ts'

export interface SecondClientData {
  readonly door: Door
  readonly apiKey: string
  readonly domain: string
  readonly ports: { readonly api: number; readonly relayTls: number; readonly mx: number; readonly sandboxHttp: number }
}

/** How long an ordinary client waited, in milliseconds. */
export interface Waits {
  readonly count: number
  readonly median: number
  readonly p99: number
  readonly longest: number
  readonly failed: number
}

/** An ordinary client that asks the same process again and again, in a thread of its own, so that only the process keeps it waiting. */
export interface SecondClient {
  begin(): void
  /** Waits until what it asked last is answered, at most so many milliseconds. */
  end(within: number): Promise<Waits>
  close(): Promise<void>
}

export async function startSecondClient(data: SecondClientData): Promise<SecondClient> {
  const worker = new Worker(new URL('./second-client-thread.ts', import.meta.url), { workerData: data })
  const failed = new Promise<never>((_resolve, reject) => worker.once('error', reject))
  failed.catch(() => {})
  await Promise.race([new Promise((resolve) => worker.once('message', resolve)), failed])
  return {
    begin: () => worker.postMessage('begin'),
    async end(within) {
      const answer = new Promise<Waits>((resolve) => worker.once('message', resolve))
      worker.postMessage(within)
      return Promise.race([answer, failed])
    },
    close: async () => void (await worker.terminate()),
  }
}
