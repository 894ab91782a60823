import type { Reply } from '@postrider/core'
import type { TlsRefused } from '../common/smtp-errors.ts'
import { cutText, MAX_KEPT_BYTES } from '../smtp/reply-reader.ts'

export function tlsReply({ enhanced, message }: TlsRefused): Reply {
  // Without a code, since the host has refused nothing.
  return { code: 0, enhanced, text: cutText(message, MAX_KEPT_BYTES), own: true }
}

export function lostReply(reason: string): Reply {
  return { code: 0, enhanced: '4.4.1', text: cutText(reason, MAX_KEPT_BYTES) }
}

export function buildFailure({ message }: Error): Reply {
  return { code: 451, enhanced: '4.3.0', text: message, own: true }
}
