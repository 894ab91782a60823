import { type Acceptance, type Submission, type SubmittedEnvelope, singleMessage } from '@postrider/core'
import type { Sender, TestService } from '../helpers/service.ts'

/** The least a submission needs; `extra` goes on top. */
export async function submissionOf(
  service: TestService,
  sender: Sender,
  extra: Partial<Submission> = {},
): Promise<Submission> {
  return {
    ...singleMessage({
      door: 'v2',
      principal: await service.core.auth.authenticate(sender.apiKey, '127.0.0.1'),
      clientAddress: '127.0.0.1',
      from: { email: `desk@${sender.domain}`, name: 'Ship Desk' },
      to: 'lena@harbor.example',
    }),
    subject: 'Berth 4',
    content: { kind: 'parts', html: '<p>Your berth is ready.</p>', text: undefined, amp: undefined },
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
