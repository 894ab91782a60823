import type { Submission } from './submission.ts'

type Given = Pick<Submission, 'door' | 'principal' | 'clientAddress' | 'from'>

export interface SingleMessage extends Given {
  readonly to: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Returns a submission to one recipient, without subject and content, with nothing else requested. For mail that no client has written. */
export function singleMessage({ to, headers = {}, ...given }: SingleMessage): Omit<Submission, 'subject' | 'content'> {
  const envelope = { to: [to], cc: [], bcc: [], reference: undefined, referenceCc: undefined, attributes: {}, headers }
  return {
    ...given,
    replyTo: undefined,
    templateId: undefined,
    attachmentIds: [],
    attachments: [],
    envelopes: [{ ...envelope, attachments: [] }],
    tags: [],
    settings: {},
    scheduledAt: undefined,
    idempotencyKey: undefined,
    fingerprint: undefined,
    nameOf: (field) => field,
  }
}
