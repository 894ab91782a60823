import { createCall, type PostriderOptions } from './call.ts'
import { Keys } from './generated/keys.ts'
import { Messages } from './generated/messages.ts'
import { base64Of } from './send.ts'

/** The mail that nodemailer gives to a transport. */
interface MailToSend {
  readonly data: { readonly envelope?: unknown }
  readonly message: {
    getEnvelope(): { readonly from: string | false; readonly to: readonly string[] }
    messageId(): string
    build(callback: (error: Error | null, message: Uint8Array) => void): void
  }
}

export interface SentInfo {
  readonly envelope: { readonly from: string | false; readonly to: readonly string[] }
  readonly messageId: string
  /** The id by which Postrider knows the message. */
  readonly postriderId: string
  readonly accepted: readonly string[]
  readonly rejected: readonly string[]
  /** The corrections that the service made in the message, in words; empty without any. */
  readonly response: string
}

/**
 * A transport for nodemailer: `nodemailer.createTransport(postriderTransport({ baseUrl, apiKey }))`. Messages are sent as nodemailer writes them, under its
 * envelope. The Message-ID is the idempotency key, so that a repetition after a lost response sends nothing twice.
 */
export function postriderTransport(options: PostriderOptions) {
  const call = createCall(options)
  const [messages, keys] = [new Messages(call), new Keys(call)]
  async function send({ message }: MailToSend): Promise<SentInfo> {
    const messageId = message.messageId()
    const octets = await new Promise<Uint8Array>((resolve, reject) =>
      message.build((error, built) => (error ? reject(error) : resolve(built))),
    )
    const envelope = message.getEnvelope()
    const sent = await messages.sendRaw(
      { raw: await base64Of(octets), from: envelope.from || '', to: envelope.to },
      { idempotencyKey: messageId },
    )
    return {
      envelope,
      messageId,
      postriderId: sent.message_id,
      accepted: envelope.to,
      rejected: [],
      response: sent.corrected ?? '',
    }
  }
  return {
    name: 'Postrider',
    // nodemailer logs it.
    version: 'v2',
    send: (mail: MailToSend, callback: (error: Error | null, info?: SentInfo) => void): void => {
      send(mail).then(
        (info) => callback(null, info),
        (error: Error) => callback(error),
      )
    },
    /** Whether the service responds, and takes the key; nothing is sent. */
    verify: (callback?: (error: Error | null, isReady?: true) => void): Promise<true> | undefined => {
      const ready = keys.show().then((): true => true)
      if (!callback) return ready
      ready.then(
        (is) => callback(null, is),
        (error: Error) => callback(error),
      )
      return undefined
    },
  }
}
