import { type Operation, operation } from '../operation.ts'
import { refuses } from '../refusal.ts'

const ALL = '/verified_senders'
const common = { scope: 'domains', section: '7.1' } as const
const NO_COMMAND = { none: 'the service has no single senders, only domains' }

/** Single addresses are not verified (decision 48): each address of an active domain may send. */
export const VERIFIED_SENDERS: readonly Operation[] = [
  operation({
    name: 'listVerifiedSenders',
    summary: 'List the verified single senders, of which there are none: domains are authenticated',
    cli: NO_COMMAND,
    ...common,
    method: 'GET',
    path: ALL,
    right: 'sender_verification_eligible',
    status: 200,
    act: async () => ({ results: [] }),
  }),
  operation({
    name: 'viewVerificationSteps',
    summary: 'Show whether the account has an active domain',
    cli: 'domain list',
    ...common,
    method: 'GET',
    path: `${ALL}/steps_completed`,
    right: 'sender_verification_eligible',
    status: 200,
    act: async (_input, { core, principal }) => {
      const { total } = await core.domains.page(principal.account.id, { status: 'active', limit: 1, offset: 0 })
      return { results: { sender_verified: false, domain_verified: total > 0 } }
    },
  }),
  operation({
    name: 'createVerifiedSender',
    summary: 'Reject the verification of a single sender',
    cli: NO_COMMAND,
    ...common,
    method: 'POST',
    path: ALL,
    right: 'sender_verification_exempt',
    status: 400,
    anyBody: true,
    act: refuses(400, 'Single senders are not verified here. Authenticate their domain: POST /v3/whitelabel/domains.'),
  }),
]
