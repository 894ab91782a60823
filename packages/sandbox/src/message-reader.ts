import { createThreadPool, ServiceError, type ThreadPool, ThreadStopped } from '@postrider/core'
import type { InboxEntry } from './inbox-entry.ts'
import type { Form, MessageAnswer, MessageOrder } from './message-orders.ts'

/** A message that was not shown, and why. */
export class NotShown extends Error {
  readonly why: ThreadStopped['why']

  constructor(why: ThreadStopped['why']) {
    super(`the message was not shown: ${why}`)
    this.why = why
  }
}

/** Reads messages in threads of their own: one may be made so that it takes seconds, and nobody else should wait for it. */
export interface MessageReader {
  /** The octets to answer with; undefined when the file is gone, or there is no HTML. Throws NotShown. */
  show(form: Form, entry: InboxEntry, file: string): Promise<Buffer | undefined>
  /** Empty when there is none, or it takes too much to find. */
  subject(file: string): Promise<string>
  close(): Promise<void>
}

const THREAD = new URL('./reading-thread.ts', import.meta.url)

export function createMessageReader(): MessageReader {
  // 5 MB of text or HTML take 0.1 to 0.6 s. What decodes to lists of numbers (5 MB of ISO-2022-JP) takes more than 192 MB, an
  // object for each line (5 MB of bare line feeds) more than 160: they are not shown, and the process stays below 500 MiB.
  const showing = createThreadPool<MessageOrder, MessageAnswer>({
    ...{ name: 'showing messages', url: THREAD, threads: 1, waiting: 1000 },
    ...{ mostCpu: 3000, longest: 15_000, heap: 96 },
  })
  // A thread of its own, as the sender waits for it: nobody's mail should wait for what somebody looks at.
  const subjects = createThreadPool<MessageOrder, MessageAnswer>({
    ...{ name: 'subjects of messages', url: THREAD, threads: 1, waiting: 10_000 },
    ...{ mostCpu: 1000, longest: 5000, heap: 64 },
  })
  return {
    async show(form, entry, file) {
      const octets = (await ask(showing, { form, entry, file })) as Uint8Array<ArrayBuffer> | undefined
      return octets && Buffer.from(octets.buffer, octets.byteOffset, octets.length)
    },
    subject: (file) => ask(subjects, { form: 'subject', file }).then(String, () => ''),
    close: async () => void (await Promise.all([showing.close(), subjects.close()])),
  }
}

async function ask(pool: ThreadPool<MessageOrder, MessageAnswer>, order: MessageOrder): Promise<MessageAnswer> {
  try {
    return await pool.ask(order)
  } catch (error) {
    if (error instanceof ThreadStopped) throw new NotShown(error.why)
    throw error instanceof ServiceError ? new NotShown('busy') : error
  }
}
