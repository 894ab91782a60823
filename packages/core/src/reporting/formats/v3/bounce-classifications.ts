/** The classifications of bounces in the mirrored v3 interface, in its lists (v3 contract 7.1). */
export const BOUNCE_CLASSIFICATIONS = [
  ...(['Content', 'Frequency or Volume Too High', 'Invalid Address', 'Mailbox Unavailable'] as const),
  ...(['Reputation', 'Technical Failure', 'Unclassified'] as const),
] as const
export type BounceClassification = (typeof BOUNCE_CLASSIFICATIONS)[number]

const BY_CLASS: Readonly<Record<string, BounceClassification>> = {
  'bad-mailbox': 'Invalid Address',
  'bad-domain': 'Invalid Address',
  moved: 'Invalid Address',
  'not-accepting': 'Invalid Address',
  'mailbox-full': 'Mailbox Unavailable',
  'mailbox-inactive': 'Mailbox Unavailable',
  filtered: 'Reputation',
  'too-large': 'Content',
  policy: 'Reputation',
  spam: 'Reputation',
  authentication: 'Reputation',
  rate: 'Frequency or Volume Too High',
  relay: 'Technical Failure',
  protocol: 'Technical Failure',
  network: 'Technical Failure',
  expired: 'Technical Failure',
  system: 'Technical Failure',
}

/** Returns the classification of a bounce class; undefined stands for expired mail. */
export function classificationOf(bounceClass: string | undefined): BounceClassification {
  return BY_CLASS[bounceClass ?? ''] ?? 'Unclassified'
}
