import type { DomainWithRecords, ErrorName } from '@postrider/core'
import Type, { type Static } from 'typebox'

export const DomainRecord = Type.Object({
  type: Type.String({ description: 'TXT or CNAME' }),
  host: Type.String(),
  value: Type.String(),
  strings: Type.Optional(
    Type.Array(Type.String(), {
      description: 'of a TXT value that is too long for one string: its strings of at most 255 characters',
    }),
  ),
  provisional: Type.Optional(
    Type.Boolean({
      description: 'true if the value names a host of the service that is not final, such as one without a dot',
    }),
  ),
  purpose: Type.String({ description: 'dkim, spf, returnPath, envelope or dmarc' }),
  verified: Type.Boolean(),
  state: Type.String({ description: 'unchecked, right, wrong or missing' }),
  required: Type.Boolean({ description: 'whether the domain needs it to become active' }),
  found: Type.Optional(Type.Array(Type.String(), { description: 'values found instead' })),
  problem: Type.Optional(Type.String()),
  fault: Type.Optional(
    Type.String({
      description:
        'the mistake, if it is a frequent one: cut, quoted, doubled (the domain was appended twice) or elsewhere',
    }),
  ),
  key: Type.Optional(
    Type.String({ description: 'state of a DKIM key: active, next (signs after its record was found) or retiring' }),
  ),
  algorithm: Type.Optional(Type.String({ description: 'of a DKIM key: rsa or ed25519' })),
})

export const SendingDomain = Type.Object({
  domain: Type.String(),
  envelopeName: Type.Union([Type.String(), Type.Null()]),
  status: Type.String({ description: 'pending, active, inactive or rejected' }),
  shared: Type.Boolean({ description: 'whether subaccounts can send from it' }),
  ed25519: Type.Boolean({
    description: 'whether its mail also gets an Ed25519 signature, after the record of that key was found',
  }),
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

export const domain = Type.String({ description: 'domain of the from address' })
export const Named = Type.Object({ domain })
export const UNKNOWN: readonly ErrorName[] = ['domainInvalid', 'domainUnknown']

export const EXAMPLE: Static<typeof SendingDomain> = {
  domain: 'ship.example',
  envelopeName: 'track',
  status: 'pending',
  shared: false,
  ed25519: false,
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
      algorithm: 'rsa',
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

export function shown(domain: DomainWithRecords): Static<typeof SendingDomain> {
  const { name, envelopeName, state, shared, ed25519, createdAt, checkedAt, brokenSince, claimEndsAt, dns } = domain
  return {
    domain: name,
    envelopeName,
    status: state,
    shared,
    ed25519,
    addedTime: createdAt.toISOString(),
    checkedTime: checkedAt?.toISOString() ?? null,
    brokenSince: brokenSince?.toISOString() ?? null,
    claimEnds: claimEndsAt?.toISOString() ?? null,
    dns: dns.map(({ found, strings, ...record }) => ({
      ...record,
      ...(strings ? { strings: [...strings] } : {}),
      ...(found ? { found: [...found] } : {}),
    })),
  }
}
