/** What the mirrored v3 interface calls the reasons of bounces, in its lists (v3 contract 7.1). */
export const BOUNCE_CLASSIFICATIONS = [
  ...(['Content', 'Frequency or Volume Too High', 'Invalid Address', 'Mailbox Unavailable'] as const),
  ...(['Reputation', 'Technical Failure', 'Unclassified'] as const),
] as const
export type BounceClassification = (typeof BOUNCE_CLASSIFICATIONS)[number]

const OF_CLASS: Readonly<Record<string, BounceClassification>> = {
  'bad-mailbox': 'Invalid Address',
  'bad-domain': 'Invalid Address',
  'mailbox-full': 'Mailbox Unavailable',
  'mailbox-inactive': 'Mailbox Unavailable',
  'too-large': 'Content',
  policy: 'Reputation',
  spam: 'Reputation',
  authentication: 'Reputation',
  rate: 'Frequency or Volume Too High',
  relay: 'Technical Failure',
  protocol: 'Technical Failure',
  network: 'Technical Failure',
}

/** Of a bounce class; undefined: the mail expired. */
export function classificationOf(bounceClass: string | undefined): BounceClassification {
  return OF_CLASS[bounceClass ?? ''] ?? 'Unclassified'
}
