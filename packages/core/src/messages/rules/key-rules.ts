import { type Rate, type RateLimits, requireAllowed, type Standing } from '../../accounts/rate-limits/index.ts'
import { parseAddress } from '../../mime/address.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { Submission } from '../../submission/submission.ts'

/** Throws keyRestricted for mail that the restrictions of the key do not allow. */
export function keyAllows(
  { principal, templateId, from, envelopes, settings, resent }: Submission,
  { domain }: { readonly domain?: { readonly name: string } },
): void {
  if (principal.restrictions === null) return
  const { templates, senderDomains, recipientDomains, class: of } = principal.restrictions
  if (templates && templateId === undefined) throw forbidden('send mail without a template')
  if (templates && !templates.includes(templateId as number)) throw forbidden('use this template')
  // A host below a domain sends as that domain.
  if (senderDomains && !senderDomains.includes(domain?.name ?? parseAddress(from?.email ?? '')?.domain ?? '')) {
    throw forbidden('send from this domain')
  }
  // A message that is sent again keeps its class; mail without one has that of the key.
  const given = settings.class ?? (resent ? 'normal' : undefined)
  if (of && given !== undefined && given !== of) throw forbidden(`send ${given} mail`)
  if (!recipientDomains) return
  for (const { to, cc, bcc } of envelopes) {
    for (const written of [...to, ...cc, ...bcc]) {
      // Nothing is sent to an invalid address.
      const domain = parseAddress(written)?.domain
      if (domain !== undefined && !recipientDomains.includes(domain)) throw forbidden(`send to ${domain}`)
    }
  }
}

/**
 * Takes the recipients of a validated message from the key's quota of this hour. Throws rateLimited, or keyRestricted if they
 * exceed the quota of any hour, because waiting would not help.
 */
export async function takeRecipients(rate: Rate, count: number, rateLimits: RateLimits): Promise<Standing> {
  if (count > rate.limit) throw forbidden(`send to more than ${rate.limit} recipients per hour`)
  const standing = await rateLimits.take([rate], count)
  requireAllowed(standing)
  return standing
}

function forbidden(problem: string): ServiceError {
  return new ServiceError('keyRestricted', { values: { problem } })
}
