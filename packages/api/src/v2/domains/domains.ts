import type { Core, DomainWithRecords, ErrorName } from '@postrider/core'
import Type, { type Static } from 'typebox'
import { type Operation, operation } from '../operation.ts'
import { Count, Offset, pageOf } from '../shapes.ts'
import { RECEIVERS_EXAMPLE, ReceiverDemands, shownReceivers } from './receivers.ts'

const DomainRecord = Type.Object({
  type: Type.String({ description: 'TXT or CNAME' }),
  host: Type.String(),
  value: Type.String(),
  purpose: Type.String({ description: 'dkim, spf, returnPath, envelope or dmarc' }),
  verified: Type.Boolean(),
  state: Type.String({ description: 'unchecked, right, wrong or missing' }),
  required: Type.Boolean({ description: 'whether the domain needs it to become active' }),
  found: Type.Optional(Type.Array(Type.String(), { description: 'values found instead' })),
  problem: Type.Optional(Type.String()),
  key: Type.Optional(
    Type.String({ description: 'state of a DKIM key: active, next (signs after its record was found) or retiring' }),
  ),
})

const SendingDomain = Type.Object({
  domain: Type.String(),
  envelopeName: Type.Union([Type.String(), Type.Null()]),
  status: Type.String({ description: 'pending, active, inactive or rejected' }),
  shared: Type.Boolean({ description: 'whether subaccounts can send from it' }),
  addedTime: Type.String(),
  checkedTime: Type.Union([Type.String(), Type.Null()], { description: 'time of the last DNS check' }),
  brokenSince: Type.Union([Type.String(), Type.Null()], {
    description: 'time since which the required records of a verified domain are incorrect',
  }),
  claimEnds: Type.Union([Type.String(), Type.Null()], {
    description: 'time at which a pending domain is removed unless its required records are correct',
  }),
  dns: Type.Array(DomainRecord),
})

const CheckedDomain = Type.Object({
  ...SendingDomain.properties,
  receivers: Type.Optional(
    Type.Array(ReceiverDemands, {
      description: 'demands of large receivers; in a list only with the parameter domain',
    }),
  ),
})

const domain = Type.String({ description: 'domain of the from address' })
const Named = Type.Object({ domain })
const UNKNOWN: readonly ErrorName[] = ['domainInvalid', 'domainUnknown']

const EXAMPLE: Static<typeof SendingDomain> = {
  domain: 'ship.example',
  envelopeName: 'track',
  status: 'pending',
  shared: false,
  addedTime: '2026-01-05T10:11:12.000Z',
  checkedTime: '2026-01-05T11:11:12.000Z',
  brokenSince: null,
  claimEnds: '2026-01-19T10:11:12.000Z',
  dns: [
    {
      type: 'TXT',
      host: 'pr1-4kd0zx._domainkey.ship.example',
      value: 'v=DKIM1; k=rsa; p=MIIB…',
      purpose: 'dkim',
      key: 'active',
      required: true,
      verified: true,
      state: 'right',
    },
    {
      type: 'TXT',
      host: 'ship.example',
      value: 'v=spf1 include:mail.example.com ~all',
      purpose: 'spf',
      required: true,
      verified: false,
      state: 'wrong',
      found: ['v=spf1 -all'],
      problem: 'does not contain include:mail.example.com',
    },
    {
      type: 'CNAME',
      host: 'pr-bounces.ship.example',
      value: 'mail.example.com',
      purpose: 'returnPath',
      required: false,
      verified: false,
      state: 'missing',
    },
    {
      type: 'CNAME',
      host: 'track.ship.example',
      value: 'mail.example.com',
      purpose: 'envelope',
      required: false,
      verified: false,
      state: 'missing',
    },
    {
      type: 'TXT',
      host: '_dmarc.ship.example',
      value: 'v=DMARC1; p=none',
      purpose: 'dmarc',
      required: false,
      verified: true,
      state: 'right',
    },
  ],
}

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
    }),
    answer: SendingDomain,
    errors: ['domainInvalid', 'domainTaken', 'domainClaimsTooMany'],
    example: { input: { domain: 'ship.example', envelopeName: 'track' }, data: EXAMPLE },
    act: async ({ domain, envelopeName }, { core, principal, by }) => {
      return {
        data: shown(await core.domains.add({ accountId: principal.account.id, name: domain, envelopeName, by })),
      }
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
  operation({
    name: 'rotateDkim',
    creates: true,
    summary: 'Create the next DKIM key. It signs after its record was found in the DNS',
    cli: 'domain rotate',
    group: 'Domain',
    scope: 'domains',
    routes: [['/domain/rotateDkim', 'POST']],
    input: Named,
    answer: SendingDomain,
    errors: UNKNOWN,
    example: { input: { domain: 'ship.example' }, data: EXAMPLE },
    act: async ({ domain }, { core, principal, by }) => {
      return { data: shown(await core.domains.rotateDkim(principal.account.id, domain, by)) }
    },
  }),
  operation({
    name: 'setDkimKey',
    summary: 'Upload a DKIM key of your own. It signs after its record was found in the DNS',
    cli: 'domain set-key',
    group: 'Domain',
    scope: 'domains',
    routes: [['/domain/dkimKey', 'POST']],
    input: Type.Object({
      domain,
      selector: Type.String(),
      privateKey: Type.String({ description: 'RSA, 1024 to 4096 bits, unencrypted PEM' }),
    }),
    answer: Type.Object({ ...SendingDomain.properties, warnings: Type.Array(Type.String()) }),
    errors: UNKNOWN,
    example: {
      input: { domain: 'ship.example', selector: 'own1', privateKey: '-----BEGIN PRIVATE KEY-----\nMIIE…' },
      data: { ...EXAMPLE, warnings: ['The key has 1024 bits; some receivers ignore keys of less than 2048'] },
    },
    act: async ({ domain: name, selector, privateKey }, { core, principal, by }) => {
      const key = { name, selector, privateKey }
      const { domain, warnings } = await core.domains.setDkimKey(principal.account.id, key, by)
      return { data: { ...shown(domain), warnings } }
    },
  }),
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

function shown(domain: DomainWithRecords): Static<typeof SendingDomain> {
  const { name, envelopeName, state, shared, createdAt, checkedAt, brokenSince, claimEndsAt, dns } = domain
  return {
    domain: name,
    envelopeName,
    status: state,
    shared,
    addedTime: createdAt.toISOString(),
    checkedTime: checkedAt?.toISOString() ?? null,
    brokenSince: brokenSince?.toISOString() ?? null,
    claimEnds: claimEndsAt?.toISOString() ?? null,
    dns: dns.map(({ found, ...record }) => ({ ...record, ...(found ? { found: [...found] } : {}) })),
  }
}
