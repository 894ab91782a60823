import type { ReceiverRequirements } from '@postrider/core'
import Type, { type Static } from 'typebox'

const Demand = Type.Object({
  name: Type.String({
    description: 'dkim, spf, dmarc, alignment, oneClick, complaints, from, ptr, tls or format',
  }),
  senders: Type.String({ description: 'all, or bulk: demanded of large senders only' }),
  state: Type.String({ description: 'right (fulfilled), missing, unchecked (not known) or unneeded' }),
  problem: Type.Optional(Type.String({ description: 'why it is missing or not known, or soon may be missing' })),
  remedy: Type.Optional(Type.String({ description: 'the next step to fulfil it' })),
})

/** The demands of a large receiver, and how a domain fulfils them. */
export const ReceiverDemands = Type.Object({
  receiver: Type.String({ description: 'google, yahoo or microsoft' }),
  label: Type.String(),
  bulkFrom: Type.Union([Type.Integer(), Type.Null()], {
    description: 'messages per day from which a sender counts as large; null: not published',
  }),
  sources: Type.Array(
    Type.Object({
      address: Type.String({ description: 'page of the receiver' }),
      read: Type.String({ description: 'day on which the demands were compared with it' }),
    }),
  ),
  requirements: Type.Array(Demand),
})

export function shownReceivers(receivers: readonly ReceiverRequirements[]): Static<typeof ReceiverDemands>[] {
  return receivers.map(({ receiver, label, bulkFrom, sources, requirements }) => ({
    receiver,
    label,
    bulkFrom,
    sources: sources.map((one) => ({ ...one })),
    requirements: requirements.map(({ name, senders, state, problem, remedy }) => ({
      name,
      senders,
      state,
      ...(problem === undefined ? {} : { problem }),
      ...(remedy === undefined ? {} : { remedy }),
    })),
  }))
}

export const RECEIVERS_EXAMPLE: Static<typeof ReceiverDemands>[] = [
  {
    receiver: 'google',
    label: 'Gmail',
    bulkFrom: 5000,
    sources: [{ address: 'https://support.google.com/a/answer/81126', read: '2026-11-29' }],
    requirements: [
      { name: 'dkim', senders: 'bulk', state: 'right' },
      {
        name: 'dmarc',
        senders: 'bulk',
        state: 'missing',
        problem: 'no DMARC record applies to the domain',
        remedy: 'publish the DMARC record that is shown for the domain; v=DMARC1; p=none is enough',
      },
    ],
  },
]
