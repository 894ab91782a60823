import { createThreadPool, ServiceError, type ThreadPool, ThreadStopped } from '@postrider/core'
import type { InboxEntry } from '../inbox-entry.ts'
import type { Digest } from './digest.ts'
import { type Beginning, EMPTY_BEGINNING } from './head.ts'
import type { MessageLinks } from './judged-link.ts'
import type {
  AttachmentOrder,
  FoundAttachment,
  JsonOrder,
  MailpitOrder,
  MessageAnswer,
  MessageOrder,
  ShowOrder,
} from './message-orders.ts'
import type { PartOrder } from './part-order.ts'

/** A message could not be shown; `why` is the reason. */
export class NotShown extends Error {
  readonly why: ThreadStopped['why']

  constructor(why: ThreadStopped['why']) {
    super(`could not show the message: ${why}`)
    this.why = why
  }
}

/** Parses messages in separate threads: a malicious one may take seconds, and must not delay other requests. */
export interface MessageReader {
  /** The bytes of the response; undefined if the file does not exist, or if there is no HTML. Throws NotShown. */
  show(order: ShowOrder | JsonOrder | MailpitOrder | PartOrder): Promise<Buffer | undefined>
  /** Undefined if the file does not exist. Throws NotShown. */
  links(entry: InboxEntry, file: string): Promise<MessageLinks | undefined>
  /** Undefined if the file or the attachment does not exist. Throws NotShown. */
  attachment(order: AttachmentOrder): Promise<FoundAttachment | undefined>
  /** Undefined if the file does not exist. Throws NotShown. */
  digest(file: string): Promise<Digest | undefined>
  /** Empty if the header says nothing, or if parsing takes too much. */
  head(file: string): Promise<Beginning>
  close(): Promise<void>
}

const THREAD = new URL('../page/reading-thread.ts', import.meta.url)

export function createMessageReader(): MessageReader {
  // 5 MB of text or HTML take 0.1 to 0.6 s. One object per line (5 MB of bare line feeds) takes more than 160 MB: such a message is not shown, and
  // the process stays below 500 MiB.
  const showing = createThreadPool<MessageOrder, MessageAnswer>({
    name: 'showing messages',
    url: THREAD,
    threads: 1,
    waiting: 1000,
    mostCpu: 3000,
    longest: 15_000,
    heap: 96,
  })
  // Separate, since the SMTP client waits for it: showing a message must not delay the receipt of another.
  const heads = createThreadPool<MessageOrder, MessageAnswer>({
    name: 'headers of messages',
    url: THREAD,
    threads: 1,
    waiting: 10_000,
    mostCpu: 1000,
    longest: 5000,
    heap: 64,
  })
  const show: MessageReader['show'] = async (order) => {
    const octets = (await ask(showing, order)) as Uint8Array<ArrayBuffer> | undefined
    return octets && Buffer.from(octets.buffer, octets.byteOffset, octets.length)
  }
  return {
    show,
    async links(entry, file) {
      const octets = await show({ form: 'links', entry, file })
      return octets && (JSON.parse(octets.toString()) as MessageLinks)
    },
    attachment: async (order) => (await ask(showing, order)) as FoundAttachment | undefined,
    digest: async (file) => (await ask(showing, { form: 'digest', file })) as Digest | undefined,
    head: (file) =>
      ask(heads, { form: 'head', file }).then(
        (answer) => answer as Beginning,
        () => EMPTY_BEGINNING,
      ),
    close: async () => void (await Promise.all([showing.close(), heads.close()])),
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
