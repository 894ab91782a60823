import type { Core } from '@postrider/core'
import { type Call, type Command, CommandError, requiredId, textOption, UsageError } from '../../command.ts'
import { BOUNDS, baseUrl, importAccount, openSource, PARTS, type Part, SourceError } from '../../importing/index.ts'
import { progressOn, SILENT } from '../../importing/progress.ts'
import { toReport } from '../../importing/report.ts'
import { type ImportCounts, KINDS, newTally } from '../../importing/tally.ts'
import { apiKeyOf } from '../api-key.ts'
import { requireYes } from '../confirming.ts'

const HOSTED = 'https://api.sendgrid.com'

export const importCommands: readonly Command[] = [
  {
    name: 'import sendgrid',
    usage: `--account ID [--key KEY|-] [--url BASE] [--only ${PARTS.join(',')}] [--dry-run] [--overwrite] [--yes]`,
    summary: 'Import templates, unsubscribe groups and suppressions from a v3 API',
    detail: 'The API is that of SendGrid or of another Postrider',
    parameters: {
      key: 'API key (default: SENDGRID_API_KEY); "-" reads it from stdin',
      url: 'Address of the API (default: that of SendGrid)',
      only: 'Kinds to import, separated by commas',
      'dry-run': 'Show what would be imported, and change nothing',
      overwrite: 'Replace what has the same name and is different',
    },
    examples: ['import sendgrid --account 12 --dry-run'],
    run: async (call) => {
      const accountId = requiredId(call, 'account')
      const base = baseUrl(textOption(call, 'url') ?? HOSTED)
      const parts = partsOf(call)
      const dryRun = call.options['dry-run'] === true
      const overwrite = call.options.overwrite === true
      const key = await apiKeyOf(call, 'SENDGRID_API_KEY')
      if (!dryRun)
        await requireYes(
          call,
          `Import ${parts.join(', ')} from ${base} into account ${accountId}?`,
          'nothing was imported',
        )
      const tally = newTally()
      const progress = call.options.json ? SILENT : progressOn(call.stderr)
      const how = { accountId, bounds: BOUNDS, dryRun, overwrite, tally, progress }
      try {
        await call.withCore(async (core) => {
          await importAccount({ ...how, core, source: openSource(base, key) }, parts)
          if (!dryRun) await tellOwners(core, tally, { accountId, from: base })
        })
      } catch (error) {
        progress.end()
        if (dryRun || !(error instanceof SourceError)) throw error
        throw new CommandError(`${error.message}; items copied so far are kept; rerun to continue`)
      }
      return toReport(tally, { accountId, from: base, dryRun })
    },
  },
]

/** Notes for the owners that an import has ended, with what it did. One that finds nothing new is not worth mail. */
async function tellOwners(
  core: Core,
  tally: ImportCounts,
  told: { readonly accountId: number; readonly from: string },
) {
  const sum = (of: 'added' | 'there' | 'overwritten' | 'refused') =>
    KINDS.reduce((total, kind) => total + tally.counts[kind][of], 0)
  const detail = {
    from: new URL(told.from).host,
    added: sum('added'),
    unchanged: sum('there'),
    rejected: sum('refused'),
    failure: toReport(tally, { ...told, dryRun: false }).failure ?? '',
  }
  if (detail.added + sum('overwritten') === 0 && detail.failure === '') return
  await core.people.notices.note({ accountId: told.accountId, kind: 'import', subject: '', detail })
}

/** Throws {@link UsageError}. */
function partsOf(call: Call): Part[] {
  const only = textOption(call, 'only')
  if (only === undefined) return [...PARTS]
  return only.split(',').map((word) => {
    const part = PARTS.find((one) => one === word.trim())
    if (!part) throw new UsageError(`--only must be a comma-separated list of ${PARTS.join(', ')} (got "${word}")`)
    return part
  })
}
