import { type DnsPlan, quotedStrings, type RecordCheck } from '@postrider/core'
import type { Answer, Command } from '../../command.ts'
import { isWrong, recordTable } from '../../doctor/source-status.ts'
import { coreCommand } from '../core-command.ts'

export const dnsCommands: readonly Command[] = [
  coreCommand({
    name: 'dns',
    usage: '',
    summary: 'Show and check the DNS records that the service itself needs',
    detail: 'These are its addresses, HELO, return path and tracked links. The exit status is 1 unless all are right',
    run: async (core) => shown(await core.sourceChecks.planDns()),
  }),
]

function shown({ records, notes }: DnsPlan): Answer {
  const wrong = records.filter(isWrong)
  const parts = [recordTable(records), ...notes.map((note) => `note: ${note}`)]
  const lines = wrong.flatMap((record) => zoneLine(record) ?? [])
  if (lines.length > 0) parts.push(`Records to publish, as lines of a zone file:\n\n${lines.join('\n')}`)
  const failed = records.filter(({ state }) => state === 'unknown').length
  const failures = [
    ...(wrong.length > 0 ? [`${wrong.length} of ${records.length} records are missing or wrong`] : []),
    ...(failed > 0 ? [`${failed} of ${records.length} records could not be looked up`] : []),
  ]
  const failure = failures.length === 0 ? {} : { failure: failures.join('; ') }
  return { data: { records, notes }, text: parts.join('\n\n'), ...failure }
}

/** Undefined if the value is not known. */
function zoneLine({ type, host, expected, purpose }: RecordCheck): string | undefined {
  const isName = type === 'PTR' || type === 'MX'
  if (purpose === 'tracking' || (!isName && type !== 'TXT' && expected.includes(' ')) || expected.includes('…')) return
  const value = type === 'TXT' ? quotedStrings(expected) : isName ? `${expected}.` : expected
  return `${host}. 3600 IN ${type} ${value}`
}
