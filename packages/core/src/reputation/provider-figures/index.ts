import type { Sql } from '../../platform/database/database.ts'
import { invalidParameter } from '../../platform/errors.ts'
import { FIGURE_FILE } from './figure-file.ts'
import { readGoogle } from './read-google.ts'
import { readSnds } from './read-snds.ts'
import { forgetFigures, listFigures, type ProviderFigure, type StoredFigure, storeFigures } from './store.ts'

export { FIGURE_FILE } from './figure-file.ts'
export type { ProviderFigure, StoredFigure } from './store.ts'

/** The services whose files are read, with the providers that their figures are of. */
const SERVICES = {
  google: { provider: 'google', read: readGoogle },
  snds: { provider: 'outlook', read: (text: string): ProviderFigure[] => readSnds(text) },
} as const

export type FigureService = keyof typeof SERVICES
export const FIGURE_SERVICES = Object.keys(SERVICES) as readonly FigureService[]

/** The content of a file that was downloaded from a provider's service. */
export interface FigureFile {
  readonly service: FigureService
  readonly text: string
  /** The domain of the figures, if the file does not name it. */
  readonly domain?: string | undefined
}

/** Figures that providers publish about the mail of this installation. */
export interface ProviderFigures {
  /** Imports all figures of a file, or none. Returns their provider and number. Throws parameterInvalid (file, domain). */
  import(file: FigureFile): Promise<{ readonly provider: string; readonly figures: number }>
  /** Returns the latest figures, at most 1000; of all providers if none is given. */
  list(provider?: string): Promise<StoredFigure[]>
  /** Deletes some that are older than 400 days. Returns their number. */
  forgetOld(): Promise<number>
}

export function createProviderFigures(sql: Sql): ProviderFigures {
  return {
    async import({ service, text, domain }) {
      if (Buffer.byteLength(text) > FIGURE_FILE.maxBytes) {
        throw invalidParameter('file', `must have at most ${FIGURE_FILE.maxBytes} bytes`)
      }
      const { provider, read } = SERVICES[service]
      const figures = read(text, domain)
      await storeFigures(sql, provider, figures)
      return { provider, figures: figures.length }
    },
    list: (provider) => listFigures(sql, provider),
    forgetOld: () => forgetFigures(sql),
  }
}
