import { FIGURE_FILE, FIGURE_SERVICES, type FigureService, loadProviders } from '@postrider/core'
import { type Command, CommandError, requiredWord, textOption, UsageError } from '../../command.ts'
import { tableOr } from '../../table.ts'
import { readBounded } from '../read-bounded.ts'

export const providerFigureCommands: readonly Command[] = [
  {
    name: 'provider import',
    usage: `${FIGURE_SERVICES.join('|')} FILE [--domain DOMAIN]`,
    summary: 'Import the figures of Google Postmaster Tools or Microsoft SNDS',
    detail: 'Files of Google are JSON of its API, or CSV; those of SNDS are CSV',
    parameters: { domain: 'Domain of a CSV file of Google' },
    examples: ['provider import google figures.csv --domain ship.example'],
    async run(call) {
      const service = requiredWord(call, `service (${FIGURE_SERVICES.join(' or ')})`)
      if (!FIGURE_SERVICES.some((one) => one === service)) {
        throw new UsageError(`the service must be ${FIGURE_SERVICES.join(' or ')} (got "${service}")`)
      }
      const path = call.words[1]
      if (!path) throw new UsageError('missing argument: file')
      const text = readBounded(path, { name: 'the file', maxBytes: FIGURE_FILE.maxBytes })
      const file = { service: service as FigureService, text, domain: textOption(call, 'domain') }
      const imported = await call.withCore((core) => core.providerFigures.import(file))
      return {
        data: imported,
        text: `${imported.figures} ${imported.figures === 1 ? 'figure' : 'figures'} of ${imported.provider} imported`,
      }
    },
  },
  {
    name: 'provider figures',
    usage: '[NAME]',
    summary: 'List the imported figures of providers, the latest first',
    async run(call) {
      const [name] = call.words
      if (name !== undefined && !loadProviders(call.config.providersFile).named(name)) {
        throw new CommandError(`provider "${name}" not found; "provider list" lists them`)
      }
      const figures = await call.withCore((core) => core.providerFigures.list(name))
      const rows = figures.map((one) => [one.day, one.provider, one.subject, one.name, one.value, one.importedAt])
      const heading = ['day', 'provider', 'subject', 'figure', 'value', 'imported at']
      return { data: figures, text: tableOr('no figures; "provider import" adds some', heading, rows) }
    },
  },
]
