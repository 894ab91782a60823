import { join } from 'node:path'

/** Real cases that are not part of the repository. `npm run test:corpora` names their folder; `npm test` does not look for it. */
const FOLDER = process.env.CORPORA

export const skipWithoutCorpora = FOLDER ? {} : { skip: 'it needs the corpora: npm run test:corpora' }

export const corpusPath = (name: string): string => join(FOLDER ?? '', name)
