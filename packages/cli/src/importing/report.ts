import { defined } from '@postrider/core'
import type { Answer } from '../command.ts'
import { table } from '../table.ts'
import { type ImportCounts, KINDS } from './tally.ts'

export interface ReportOptions {
  readonly accountId: number
  readonly from: string
  readonly dryRun: boolean
}

const ALIKE = ['groups', 'templates', 'versions'] as const

/** The result of the import; in a dry run, the plan. */
export function toReport(
  { counts, differences, refusals, leftBehind, cut, unusable }: ImportCounts,
  told: ReportOptions,
): Answer {
  const { dryRun, accountId, from } = told
  const heading = [
    '',
    dryRun ? 'to add' : 'added',
    'unchanged',
    'differs',
    dryRun ? 'to overwrite' : 'overwritten',
    'rejected',
  ]
  const rows = KINDS.map((kind) => {
    const { added, there, differs, overwritten, refused } = counts[kind]
    return [kind, added, there, differs, overwritten, refused]
  })
  const paragraphs = [
    dryRun
      ? `Dry run for account ${accountId}, from ${from}: nothing was changed.`
      : `Imported into account ${accountId} from ${from}.`,
    table(heading, rows),
    section('Different in Postrider and left unchanged (--overwrite replaces them):', differences),
    section('Rejected:', refusals),
    section('Truncated lists:', cut),
    section(
      'Versions from which no message can be built (mail with them is dropped until they are changed):',
      unusable,
    ),
    section(
      'Not imported:',
      leftBehind.map(({ what, count, why }) => `${what}${count === null ? '' : ` (${count})`}: ${why}`),
    ),
  ]
  const data = { ...told, counts, differences, refused: refusals, cut, unusable, leftBehind }
  const text = paragraphs.filter(Boolean).join('\n\n')
  const failure = dryRun ? undefined : failureOf({ counts, cut })
  if (failure !== undefined || unusable.length === 0) return { data, text, ...defined({ failure }) }
  return { data, text, failure: 'no message can be built from some versions, listed above', status: 3 }
}

function section(heading: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : [heading, ...lines.map((line) => `  ${line}`)].join('\n')
}

/** Suppressions with a different reason do not count as a failure: the address is suppressed. */
function failureOf({ counts, cut }: Pick<ImportCounts, 'counts' | 'cut'>): string | undefined {
  const refused = KINDS.reduce((sum, kind) => sum + counts[kind].refused, 0)
  const differing = ALIKE.reduce((sum, kind) => sum + counts[kind].differs, 0)
  if (refused + differing + cut.length === 0) return undefined
  return `import incomplete: ${refused} rejected, ${differing} different, ${cut.length} lists truncated`
}
