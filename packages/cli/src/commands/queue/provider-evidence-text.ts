import type { Evidence, EvidenceDomain, Measure, Outcomes } from '@postrider/core'
import { PURPOSES } from '../../doctor/source-status.ts'
import { printable } from '../../table.ts'

/** The evidence as Markdown, for a provider's form. */
export function evidenceText(evidence: Evidence): string {
  const { provider, source, from, until, contact } = evidence
  const sections = [
    `# Mail to ${cell(provider)}`,
    [
      `From ${from.toISOString()} until ${until.toISOString()}${source === null ? '' : `, from the source ${cell(source)}`}.`,
      'Times and days are UTC. Recipients are named by keyed hashes only.',
      ...(contact === null ? [] : [`The provider's page for senders: ${contact} (check that it is still right).`]),
    ].join('\n'),
    ...senderText(evidence),
    '## Volumes and outcomes',
    outcomesText(evidence),
    '## Refusals',
    refusalsText(evidence),
    '## Authentication and TLS',
    authenticationText(evidence),
    '## Complaints',
    complaintsText(evidence),
    '## What was done',
    measuresText(evidence.measures),
    ...figuresText(evidence),
  ]
  return printable(sections.join('\n\n'))
}

function senderText({ sender }: Evidence): string[] {
  const { heloName, returnPathHost, sources, records } = sender
  const host = `The return paths of the mail are at ${cell(returnPathHost)}.`
  if (sources.length === 0) {
    return [
      '## Sender',
      `Mail is sent by ${cell(heloName)} (EHLO). ${host}`,
      ...listed(
        ['check', 'record', 'state', 'found'],
        records.map((one) => [PURPOSES[one.purpose], `${one.type} ${one.host}`, one.state, one.found.join(', ')]),
      ),
    ]
  }
  const rows = sources.map((one) => {
    const state = (...purposes: readonly string[]) =>
      one.checks
        .filter(({ purpose }) => purposes.includes(purpose))
        .map((check) => check.state)
        .join(', ') || 'not checked'
    const names = one.checks.filter(({ purpose }) => purpose === 'reverse').flatMap(({ found }) => found)
    const bad = one.listings.filter((listing) => listing.state === 'listed').map(({ list }) => list)
    const lists = one.listings.length === 0 ? 'not looked up' : bad.length === 0 ? 'none' : bad.join(', ')
    return [one.name, one.addresses.join(', '), one.helo, names.join(', '), state('reverse'), state('spf'), lists]
  })
  const heading = ['source', 'address', 'EHLO', 'PTR', 'PTR and back', 'SPF of the return path', 'block lists']
  return ['## Sender', host, ...listed(heading, rows)]
}

const OUTCOMES = ['attempts', 'delivered', 'deferred', 'hard', 'soft', 'blocked', 'complained'] as const

function outcomesText({ outcomes, days }: Evidence): string {
  const row = (name: string, of: Outcomes) => [name, ...OUTCOMES.map((outcome) => of[outcome])]
  const rows = [...days.map((day) => row(day.day, day)), row('all', outcomes)]
  const legend =
    'hard: the mailbox or domain does not exist; soft: all other bounces; blocked: those of both that a filter or policy caused. A ' +
    'bounce reported after the message was accepted counts as a delivery, too.'
  return `${markdownTable(['day', ...OUTCOMES], rows)}\n\n${legend}`
}

function refusalsText({ sample }: Evidence): string {
  const basis = sample.isComplete
    ? `Of all ${sample.count} attempts that are stored.`
    : `Of ${sample.count} attempts at this provider, found in a sample of ${sample.lookedAt} attempts.`
  const rows = sample.refusals.map((one) => [
    `${one.code} ${one.enhanced}`.trim(),
    one.count,
    one.firstAt,
    one.lastAt,
    one.reply,
    `${one.recipients}: ${one.hashes.join(' ')}`,
  ])
  if (rows.length === 0) return `${basis} There were no refusals.`
  return `${basis}\n\n${markdownTable(['code', 'times', 'first', 'last', 'reply', 'recipients'], rows)}`
}

function authenticationText({ authentication, sample }: Evidence): string {
  const { attempts, dkim, spf, dmarc, domains, domainCount } = authentication
  const lines = [
    'Every message is signed with the DKIM key of its sending domain. Shares of attempts by the records of the domains at their last check:',
    `- DKIM record right: ${share(dkim, attempts)}`,
    `- SPF record or own return path right: ${share(spf, attempts)}`,
    `- DMARC record: ${share(dmarc, attempts)}`,
    ...sample.tls.map(({ version, attempts: of }) => {
      const all = sample.tls.reduce((sum, one) => sum + one.attempts, 0)
      return `- ${version === '' ? 'without TLS' : cell(version)}: ${share(of, all)} of ${all} attempts with a session`
    }),
  ]
  const columns = ['name', 'attempts', 'dkim', 'spf', 'returnPath', 'dmarc'] as const
  const rows = domains.map((domain: EvidenceDomain) => columns.map((column) => domain[column]))
  const heading = ['sending domain', 'attempts', 'DKIM', 'SPF', 'return path', 'DMARC']
  const others = domainCount > domains.length ? [`${domainCount - domains.length} more domains are not shown.`] : []
  return [lines.join('\n'), ...listed(heading, rows), ...others].join('\n\n')
}

function complaintsText({ complaints, outcomes }: Evidence): string {
  const { reports, suppressed } = complaints
  return (
    `${outcomes.complained} complaints were counted. Of ${reports} stored reports, ${suppressed} suppressed their recipients in the ` +
    `transaction that recorded them, permanently; the others repeat earlier ones.`
  )
}

function measuresText(measures: readonly Measure[]): string {
  if (measures.length === 0) return 'Nothing was limited in this period.'
  const rows = measures.map(({ place, accountId, setting, value, seconds, rule, since, until }) => {
    const amount = value === null ? '' : seconds === null ? ` ${value}` : ` ${value} in ${seconds} s`
    const mail = [place, accountId === null ? null : `account a${accountId}`].filter((one) => one !== null)
    return [since, until ?? 'still in effect', mail.join(', '), `${setting}${amount}`, rule]
  })
  return markdownTable(['since', 'until', 'mail', 'limit', 'rule'], rows)
}

function figuresText({ figures }: Evidence): string[] {
  if (figures.length === 0) return []
  const rows = figures.map(({ day, subject, name, value }) => [day, subject, name, value])
  return ["## The provider's own figures", ...listed(['day', 'subject', 'figure', 'value'], rows)]
}

function share(part: number, all: number): string {
  return all === 0 ? 'none' : `${((100 * part) / all).toFixed(1)} %`
}

function listed(heading: readonly string[], rows: readonly (readonly unknown[])[]): string[] {
  return rows.length === 0 ? [] : [markdownTable(heading, rows)]
}

function markdownTable(heading: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const line = (cells: readonly unknown[]) =>
    `| ${cells.map((one) => cell(one instanceof Date ? one.toISOString() : String(one))).join(' | ')} |`
  return [line(heading), `|${heading.map(() => '---|').join('')}`, ...rows.map(line)].join('\n')
}

/** Replies and names come from outside: they must stay text, in their cell. */
function cell(text: string): string {
  return text.replace(/[\r\n\t]+/g, ' ').replace(/[\\`*_[\]<>|#&~]/g, '\\$&')
}
