import { type DmarcListed, type DmarcSummary, ServiceError } from '@postrider/core'
import { type Answer, type Command, CommandError } from '../../command.ts'
import { table } from '../../table.ts'
import { coreCommand } from '../core-command.ts'
import { reportedDays, share } from './reported-days.ts'

export const dmarcCommands: readonly Command[] = [
  coreCommand({
    name: 'dmarc show',
    usage: 'DOMAIN [--days N] [--account ID]',
    summary: 'Show what receivers reported about mail with a domain',
    detail:
      'Shows mail of this service and of others, how much of it is aligned, the addresses of others, and whether the policy can be quarantine',
    examples: ['dmarc show ship.example --days 30'],
    prepare: ({ DOMAIN: name, account: accountId, ...given }) => {
      const days = reportedDays(given.days)
      return async ({ aggregateReports }) => {
        const found = await aggregateReports.showDmarc({ name, days, accountId }).catch(ignoreInvalid)
        if (!found) throw new CommandError(`domain "${name}" not found; "domain list" lists all domains`)
        return showAnswer(found)
      }
    },
  }),
  coreCommand({
    name: 'dmarc list',
    usage: '[--limit N] [--after DOMAIN]',
    summary: 'List the domains with authenticated DMARC reports of the last 14 days, by name',
    parameters: { after: 'Only after this domain, for the next page' },
    run: async ({ aggregateReports }, { limit, after = '' }) =>
      listAnswer(await aggregateReports.listDmarc({ after: after.toLowerCase(), limit }), limit),
  }),
]

/** An invalid name is not found either. */
function ignoreInvalid(error: unknown): undefined {
  if (!(error instanceof ServiceError && error.errorName === 'domainInvalid')) throw error
}

function showAnswer(summary: DmarcSummary): Answer {
  const { domain, days, reports, unauthenticated, policy, ours, others, reporters, otherSources, advice } = summary
  const { unauthenticatedReports } = summary
  const kinds = [
    ['ours', ours.messages, ours.aligned, share(ours.aligned, ours.messages)],
    ['others', others.messages, others.aligned, share(others.aligned, others.messages)],
  ]
  const aside = unauthenticated === 0 ? '' : `; not authenticated, and not counted: ${unauthenticated}`
  const tags = Object.entries(policy ?? {}).map(([tag, value]) => `${tag}=${value}`)
  const parts = [
    `${domain}: ${reports} ${reports === 1 ? 'report' : 'reports'} of the last ${days === 1 ? 'day' : `${days} days`}${aside}`,
    ...(tags.length > 0 ? [`policy: ${tags.join('; ')}`] : []),
    advice.text,
  ]
  const tables = [
    table(['mail', 'messages', 'aligned', 'share'], kinds),
    ...listed(
      'Reported by:',
      ['domain', 'name', 'reports', 'messages', 'ours', 'aligned'],
      reporters.map((one) => {
        const aligned = share(one.ours.aligned, one.ours.messages)
        return [one.reporter, one.organization, one.reports, one.messages, one.ours.messages, aligned]
      }),
    ),
    ...listed(
      'Sent by others:',
      ['address', 'messages', 'aligned', 'from'],
      otherSources.map((one) => [one.address ?? 'the rest', one.messages, one.aligned, one.headerFrom]),
    ),
    ...listed(
      'Not authenticated, so not counted:',
      ['received', 'from', 'name', 'report', 'begin', 'end', 'messages', 'ours'],
      unauthenticatedReports.map((one) => [
        one.receivedAt,
        one.reporter,
        one.organization,
        one.reportId,
        one.beginAt,
        one.endAt,
        one.messages,
        one.ours,
      ]),
    ),
  ]
  return { data: summary, text: [parts.join('\n'), ...tables].join('\n\n') }
}

function listed(title: string, heading: readonly string[], rows: readonly (readonly unknown[])[]): string[] {
  return rows.length === 0 ? [] : [`${title}\n${table(heading, rows)}`]
}

function listAnswer(domains: readonly DmarcListed[], limit: number): Answer {
  const heading = ['domain', 'account', 'reports', 'ours', 'aligned', 'others', 'ready']
  const rows = domains.map(({ domain, accountId, reports, ours, others, advice }) => {
    const aligned = share(ours.aligned, ours.messages)
    return [domain, accountId, reports, ours.messages, aligned, others.messages, advice.isReady ? 'yes' : 'no']
  })
  const more = domains.length === limit ? [`there may be more; continue with --after ${domains.at(-1)?.domain}`] : []
  const text = rows.length > 0 ? [table(heading, rows), ...more].join('\n') : 'no DMARC reports within 14 days'
  return { data: domains, text }
}
