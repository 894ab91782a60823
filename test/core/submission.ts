import type { Acceptance, Submission, SubmittedEnvelope } from '@postrider/core'
import type { Sender, TestService } from '../helpers/service.ts'

/** The least a submission needs; `extra` goes on top. */
export async function submissionOf(
  service: TestService,
  sender: Sender,
  extra: Partial<Submission> = {},
): Promise<Submission> {
  return {
    door: 'v2',
    principal: await service.core.auth.authenticate(sender.apiKey, '127.0.0.1'),
    clientAddress: '127.0.0.1',
    from: { email: `desk@${sender.domain}`, name: 'Ship Desk' },
    subject: 'Berth 4',
    replyTo: undefined,
    content: { kind: 'parts', html: '<p>Your berth is ready.</p>', text: undefined, amp: undefined },
    templateId: undefined,
    attachmentIds: [],
    attachments: [],
    envelopes: [envelopeTo('lena@harbor.example')],
    tags: [],
    settings: {},
    scheduledAt: undefined,
    idempotencyKey: undefined,
    fingerprint: undefined,
    nameOf: (field) => field,
    ...extra,
  }
}

export function envelopeTo(recipient: string, extra: Partial<SubmittedEnvelope> = {}): SubmittedEnvelope {
  return {
    to: [recipient],
    cc: [],
    bcc: [],
    reference: undefined,
    referenceCc: undefined,
    attributes: {},
    headers: {},
    attachments: [],
    ...extra,
  }
}

export async function acceptMessage(
  service: TestService,
  sender: Sender,
  extra: Partial<Submission> = {},
): Promise<Acceptance> {
  return service.core.messages.accept(await submissionOf(service, sender, extra))
}
