import { createLog, NO_SOCKETS, POOL_SIZES, withCore } from '@postrider/core'
import { startWorker } from '@postrider/delivery'
import type { Test } from 'tap'
import type { TestService } from './service.ts'

/** A worker of the service in the process of the test: what delivers is the same, without a process to start and to warm up. */
export interface TestWorker {
  /** Its log, line by line. */
  readonly log: readonly Record<string, unknown>[]
  /** Finishes the work in progress, as on SIGTERM. */
  stop(): Promise<unknown>
}

/** For tests whose subject is not the process itself: it cannot be killed or halted. Like it, it has a pool and a core of its own. */
export async function openWorker(t: Test, { config, env }: TestService): Promise<TestWorker> {
  const lines: Record<string, unknown>[] = []
  const level = env.LOG_LEVEL === 'silent' ? 'info' : config.logLevel
  const log = createLog('delivery', level, { write: (line) => void lines.push(JSON.parse(line)) })
  const start = withCore({ name: 'delivery', connections: POOL_SIZES.delivery }, (context) =>
    startWorker(context, (why) => t.fail(`the worker lost its lease: ${why}`)),
  )
  const stop = { isStopping: () => false, isReplaced: () => false }
  const { close } = await start({ config, log, stop, sockets: NO_SOCKETS })
  let closed: Promise<void> | undefined
  const end = () => (closed ??= close())
  t.teardown(end)
  return { log: lines, stop: end }
}
