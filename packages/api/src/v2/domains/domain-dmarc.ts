import { type DmarcSummary, invalidParameter, REPORTED_DAYS, ServiceError } from '@postrider/core'
import Type, { type Static } from 'typebox'
import { type Operation, operation } from '../operation.ts'
import { Count, parseWhole } from '../shapes.ts'
import { CLOSED } from '../unknown-parameters.ts'

const Counted = (description: string) =>
  Type.Object({ messages: Type.Integer(), aligned: Type.Integer() }, { description })

const Reporter = Type.Object({
  reporter: Type.String({ description: 'domain whose DKIM signature its reports have' }),
  organization: Type.String({ description: 'how it calls itself' }),
  reports: Type.Integer(),
  messages: Type.Integer(),
  ours: Counted('messages that this service has sent'),
})

const OtherSource = Type.Object({
  address: Type.Union([Type.String(), Type.Null()], { description: 'null: the small remainder of large reports' }),
  messages: Type.Integer(),
  aligned: Type.Integer(),
  headerFrom: Type.Union([Type.String(), Type.Null()], { description: 'a domain in From of these messages' }),
})

const Summary = Type.Object({
  domain: Type.String(),
  days: Type.Integer(),
  reports: Type.Integer({ description: 'reports with a valid DKIM signature of their sender; only these are counted' }),
  unauthenticatedReports: Type.Integer({ description: 'other reports' }),
  policy: Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()], {
    description: 'tags of the DMARC record in the latest report; null without reports',
  }),
  ours: Counted('messages that this service has sent; aligned: DKIM or SPF is valid for the domain in From'),
  others: Counted('messages of others'),
  reporters: Type.Array(Reporter, { description: 'the largest first, at most 100' }),
  otherSources: Type.Array(OtherSource, { description: 'addresses of others, the largest first, at most 100' }),
  advice: Type.Object({
    ready: Type.Boolean({ description: 'whether the policy can be quarantine' }),
    text: Type.String({ description: 'the same as a sentence, with the reason' }),
  }),
})

const EXAMPLE: Static<typeof Summary> = {
  domain: 'ship.example',
  days: 14,
  reports: 14,
  unauthenticatedReports: 0,
  policy: { p: 'none', adkim: 'r', aspf: 'r' },
  ours: { messages: 4200, aligned: 4180 },
  others: { messages: 31, aligned: 0 },
  reporters: [
    {
      reporter: 'google.com',
      organization: 'google.com',
      reports: 14,
      messages: 4231,
      ours: { messages: 4200, aligned: 4180 },
    },
  ],
  otherSources: [{ address: '198.51.100.7', messages: 31, aligned: 0, headerFrom: 'ship.example' }],
  advice: { ready: true, text: 'ready for quarantine: 99.5 % of ours aligned over 14 days' },
}

/** DMARC reports about sending domains (contract section 8). */
export const DOMAIN_DMARC: readonly Operation[] = [
  operation({
    name: 'showDmarc',
    summary: 'Show what receivers reported about mail with a domain (DMARC), and whether its policy can be quarantine',
    cli: 'dmarc show',
    group: 'Domain',
    scope: 'domains',
    routes: [['/domain/dmarc', 'GET', 'POST']],
    input: Type.Object(
      {
        domain: Type.String({ description: 'domain of the from address' }),
        days: Count(`days of reports, 1 to ${REPORTED_DAYS.most}; default ${REPORTED_DAYS.usual}`),
      },
      CLOSED,
    ),
    answer: Summary,
    errors: ['domainInvalid', 'domainUnknown'],
    example: { input: { domain: 'ship.example' }, data: EXAMPLE },
    act: async ({ domain: name, days: given }, { core, principal }) => {
      const days = parseWhole(given, 'days') ?? REPORTED_DAYS.usual
      if (days < 1 || days > REPORTED_DAYS.most) {
        throw invalidParameter('days', `must be from 1 to ${REPORTED_DAYS.most}`)
      }
      const found = await core.aggregateReports.showDmarc({ name, accountId: principal.account.id, days })
      if (!found) throw new ServiceError('domainUnknown')
      return { data: shown(found) }
    },
  }),
]

function shown(summary: DmarcSummary): Static<typeof Summary> {
  const { domain, days, reports, unauthenticated, policy, ours, others, reporters, otherSources, advice } = summary
  return {
    domain,
    days,
    reports,
    unauthenticatedReports: unauthenticated,
    policy: policy && { ...policy },
    ours,
    others,
    reporters: [...reporters],
    otherSources: [...otherSources],
    advice: { ready: advice.isReady, text: advice.text },
  }
}
