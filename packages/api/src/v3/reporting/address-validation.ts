import { addressChecks, judgeAddress, parseAddress, requireAllowed } from '@postrider/core'
import Type from 'typebox'
import { type Operation, operation } from '../operation.ts'

const MAX_SOURCE = 100
/** Verdicts as numbers: nothing is computed by which they would differ more. */
const SCORES = { Valid: 1, Risky: 0.5, Invalid: 0 } as const

/** Checks of this service, in the form of the provider's: syntax, DNS, suppressions, names of large providers. */
export const ADDRESS_VALIDATION: readonly Operation[] = [
  operation({
    name: 'validateAddress',
    summary:
      'Check an address: its syntax, whether its domain takes mail, whether it is suppressed, and for a mistyped name of a large provider',
    cli: {
      none: "a check before an address is used at all; 'suppression show' shows the entries that suppress it",
    },
    section: '7.1',
    method: 'POST',
    path: '/validations/email',
    scope: 'suppressions',
    // It changes nothing.
    right: 'validations.email.read',
    alsoRight: 'validations.email.create',
    status: 200,
    body: Type.Object({
      email: Type.String({ maxLength: 320 }),
      source: Type.Optional(Type.String({ maxLength: MAX_SOURCE })),
    }),
    act: async ({ body: { email: given, source } }, { core, principal, by }) => {
      const email = given.trim()
      const accountId = principal.account.id
      requireAllowed(await core.rateLimits.take([addressChecks(accountId)]))
      const address = parseAddress(email)
      const receives = address && (await core.domains.receivesMail(address.domain, accountId))
      const suppressions = address ? await core.suppressions.holding(accountId, email) : []
      const facts = { email, receives, suppressedFor: suppressions.map(({ reason }) => reason) }
      const { verdict, suggestion, isRole, hasBounced } = judgeAddress(facts)
      const at = email.lastIndexOf('@')
      const result = {
        email,
        verdict,
        score: SCORES[verdict],
        local: at === -1 ? email : email.slice(0, at),
        host: at === -1 ? '' : email.slice(at + 1),
        ...(suggestion === undefined ? {} : { suggestion: suggestion.slice(suggestion.lastIndexOf('@') + 1) }),
        checks: {
          domain: {
            has_valid_address_syntax: address !== undefined,
            has_mx_or_a_record: receives === 'yes',
            is_suspected_disposable_address: false,
          },
          local_part: { is_suspected_role_address: isRole },
          additional: {
            has_known_bounces: hasBounced,
            has_suspected_bounces: false,
            // An addition: mail to it would be dropped.
            is_suppressed: suppressions.length > 0,
          },
        },
        ...(source === undefined ? {} : { source }),
        ip_address: by.address,
      }
      return { result }
    },
  }),
]
