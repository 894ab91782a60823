import { timerDelay } from '../../platform/concurrency/timer-delay.ts'
import { type RenderingThread, startRenderingThread } from './rendering-thread.ts'

/** Threads that are kept for the next rendering. */
export interface ThreadPool {
  /** Returns an idle thread, or starts one. */
  take(): RenderingThread
  /** Keeps a thread until it has been idle for too long; stops it if the pool is closed. */
  release(thread: RenderingThread): void
  /** Stops the idle threads. */
  close(): Promise<void>
}

/** `idle`: milliseconds after which an idle thread is stopped. */
export function createThreadPool(idle: number): ThreadPool {
  const free: { thread: RenderingThread; timer: NodeJS.Timeout }[] = []
  let closed = false
  return {
    take() {
      const kept = free.pop()
      clearTimeout(kept?.timer)
      return kept?.thread ?? startRenderingThread()
    },
    release(thread) {
      if (closed) return void thread.stop()
      const timer = setTimeout(() => {
        free.splice(
          free.findIndex((kept) => kept.thread === thread),
          1,
        )
        void thread.stop()
      }, timerDelay(idle))
      free.push({ thread, timer: timer.unref() })
    },
    async close() {
      closed = true
      await Promise.all(
        free.splice(0).map(({ thread, timer }) => {
          clearTimeout(timer)
          return thread.stop()
        }),
      )
    },
  }
}
