import { parseDomain, type TlsListed, type TlsSummary } from '@postrider/core'
import { type Answer, type Command, CommandError } from '../../command.ts'
import { table, tableOr } from '../../table.ts'
import { coreCommand } from '../core-command.ts'
import { reportedDays, share } from './reported-days.ts'

export const tlsReportCommands: readonly Command[] = [
  coreCommand({
    name: 'tls-reports',
    usage: '[DOMAIN] [--days N]',
    summary: 'Show what senders reported about TLS of their sessions to a domain',
    detail: 'Without DOMAIN, the domains with reports are listed',
    prepare: ({ DOMAIN: name, ...given }) => {
      const days = reportedDays(given.days)
      return async ({ aggregateReports }) => {
        if (name === undefined) return listAnswer(await aggregateReports.listTls(days), days)
        const domain = parseDomain(name)
        const found = domain && (await aggregateReports.showTls(domain, days))
        if (!found) throw new CommandError(`no TLS report about "${name}" within ${days} days`)
        return showAnswer(found)
      }
    },
  }),
]

function listAnswer(domains: readonly TlsListed[], days: number): Answer {
  const rows = domains.map(({ domain, accountId, reports, successful, failed }) => {
    return [domain, accountId ?? 'this service', reports, successful, failed, share(failed, successful + failed)]
  })
  const heading = ['domain', 'account', 'reports', 'successful', 'failed', 'share']
  return { data: domains, text: tableOr(`no TLS reports within ${days} days`, heading, rows) }
}

function showAnswer(summary: TlsSummary): Answer {
  const { domain, days, reports, unauthenticated, successful, failed, failures } = summary
  const aside = unauthenticated === 0 ? '' : `; not authenticated, and not counted: ${unauthenticated}`
  const rows = failures.map((one) => [one.resultType, one.policyType, one.receivingMx, one.reporters, one.failed])
  const lines = [
    `${domain}: ${reports} ${reports === 1 ? 'report' : 'reports'} of the last ${days === 1 ? 'day' : `${days} days`}${aside}`,
    `sessions: ${successful} successful, ${failed} failed ${share(failed, successful + failed)}`.trimEnd(),
    ...(rows.length > 0 ? ['', table(['failure', 'policy', 'host', 'reporters', 'sessions'], rows)] : []),
  ]
  return { data: summary, text: lines.join('\n') }
}
