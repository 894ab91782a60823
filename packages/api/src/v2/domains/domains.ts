import type { Core, DomainWithRecords } from '@postrider/core'
import Type, { type Static } from 'typebox'
import { type Operation, operation } from '../operation.ts'
import { Count, Offset, pageOf } from '../shapes.ts'
import { DOMAIN_KEYS } from './dkim.ts'
import { domain, EXAMPLE, Named, SendingDomain, shown, UNKNOWN } from './domain-shapes.ts'
import { RECEIVERS_EXAMPLE, ReceiverDemands, shownReceivers } from './receivers.ts'

const CheckedDomain = Type.Object({
  ...SendingDomain.properties,
  receivers: Type.Optional(
    Type.Array(ReceiverDemands, {
      description: 'demands of large receivers; in a list only with the parameter domain',
    }),
  ),
})

const CHECKED_EXAMPLE: Static<typeof CheckedDomain> = { ...EXAMPLE, receivers: RECEIVERS_EXAMPLE }

/** Sending domains (contract section 8). */
export const DOMAINS: readonly Operation[] = [
  operation({
    name: 'addDomain',
    creates: true,
    summary: 'Add a sending domain. Returns the DNS records to publish',
    cli: 'domain add',
    group: 'Domain',
    scope: 'domains',
    routes: [['/domain', 'POST']],
    input: Type.Object({
      domain,
      envelopeName: Type.Optional(
        Type.String({ description: 'labels below the domain: the host name of open, click and unsubscribe links' }),
      ),
      ed25519: Type.Optional(Type.Boolean({ description: 'whether to create an Ed25519 key, too' })),
    }),
    answer: SendingDomain,
    errors: ['domainInvalid', 'domainTaken', 'domainClaimsTooMany'],
    example: { input: { domain: 'ship.example', envelopeName: 'track' }, data: EXAMPLE },
    act: async ({ domain: name, envelopeName, ed25519 }, { core, principal, by }) => {
      const added = await core.domains.add({ accountId: principal.account.id, name, envelopeName, ed25519, by })
      return { data: shown(added) }
    },
  }),
  operation({
    name: 'listDomains',
    summary: 'List the sending domains by name, with the state of each domain and its records',
    cli: 'domain list',
    group: 'Domain',
    scope: 'domains',
    routes: [
      ['/domain/getDomains', 'GET', 'POST'],
      ['/domains', 'GET', 'POST'],
    ],
    input: Type.Object({
      status: Type.Optional(
        Type.Union([Type.String(), Type.Integer()], {
          description: '1: active, 0: not active; or pending, active, inactive, rejected',
        }),
      ),
      domain: Type.Optional(Type.String({ description: 'only the domain of this name' })),
      limit: Count('at most 1000 (default)'),
      offset: Offset,
    }),
    answer: Type.Array(CheckedDomain),
    errors: ['domainInvalid'],
    example: { input: { domain: 'ship.example' }, data: [CHECKED_EXAMPLE] },
    act: async ({ status, domain, ...input }, { core, principal }) => {
      const page = pageOf(input, { byDefault: 1000, most: 1000 })
      // Clients send queries with empty parameters: `?status=1&domain=`.
      const wanted = { status: String(status ?? '') || undefined, name: domain || undefined, ...page }
      const { domains, total } = await core.domains.page(principal.account.id, wanted)
      // Those of a thousand domains would be read from as many thousand messages.
      if (!wanted.name) return { data: domains.map(shown), totalRecords: total }
      return { data: await Promise.all(domains.map((one) => checked(core, one))), totalRecords: total }
    },
  }),
  operation({
    name: 'verifyDomain',
    summary: 'Check the DNS records of a domain now. The domain becomes active if its required records are correct',
    cli: 'domain check',
    group: 'Domain',
    scope: 'domains',
    routes: [['/domain/verify', 'POST']],
    input: Named,
    answer: CheckedDomain,
    errors: UNKNOWN,
    example: { input: { domain: 'ship.example' }, data: CHECKED_EXAMPLE },
    act: async ({ domain }, { core, principal, by }) => {
      return { data: await checked(core, await core.domains.verify(principal.account.id, domain, by)) }
    },
  }),
  operation({
    name: 'deleteDomain',
    summary: 'Delete a domain. Accepted messages are still signed and delivered',
    cli: 'domain delete',
    group: 'Domain',
    scope: 'domains',
    routes: [['/domain/delete', 'DELETE', 'POST']],
    input: Named,
    answer: Type.Object({}),
    errors: UNKNOWN,
    example: { input: { domain: 'ship.example' }, data: {} },
    act: async ({ domain }, { core, principal, by }) => {
      await core.domains.remove(principal.account.id, domain, by)
      return { data: {} }
    },
  }),
  ...DOMAIN_KEYS,
  operation({
    name: 'shareDomain',
    summary: 'Share a domain with subaccounts, or stop sharing it',
    cli: 'domain share',
    group: 'Domain',
    scope: 'domains',
    routes: [['/domain/share', 'POST']],
    input: Type.Object({ domain, shared: Type.Boolean() }),
    answer: SendingDomain,
    errors: UNKNOWN,
    example: { input: { domain: 'ship.example', shared: true }, data: { ...EXAMPLE, shared: true } },
    act: async ({ domain, shared }, { core, principal, by }) => {
      return { data: shown(await core.domains.share(principal.account.id, { name: domain, shared }, by)) }
    },
  }),
]

async function checked(core: Core, domain: DomainWithRecords): Promise<Static<typeof CheckedDomain>> {
  const { receivers } = await core.guard.requirements(domain.id)
  return { ...shown(domain), receivers: shownReceivers(receivers) }
}
