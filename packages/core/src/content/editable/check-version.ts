import type { Sql } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { DynamicRenderer } from '../engine/index.ts'
import type { EditableVersion, VersionTexts } from './editable-template.ts'
import { updateProblem } from './store.ts'
import { generationOf } from './template-id.ts'

const TEXTS = [
  ['subject', 'Subject'],
  ['html', 'HTML'],
  ['plain', 'Plain text'],
] as const

/** The threads that check versions, in which accounts take turns. */
export interface VersionChecker {
  readonly renderer: Pick<DynamicRenderer, 'check'>
  readonly accountId: number
}

/**
 * Says why no message can be built from the texts of a dynamic template, in a thread: for each text its first mistake, with line and column. Null if one
 * can, and while there is no capacity to find out: then each message is dropped when it is due.
 */
export async function problemOf({ renderer, accountId }: VersionChecker, texts: VersionTexts): Promise<string | null> {
  const found: string[] = []
  for (const [part, name] of TEXTS) {
    if (!texts[part].includes('{{')) continue
    const checked = await renderer.check(texts[part], String(accountId)).catch(unlessOverloaded)
    if (checked && !checked.ok && checked.failure.why === 'syntax') found.push(`${name}, ${checked.failure.sentence}`)
  }
  return found.length === 0 ? null : found.join('\n')
}

/** Returns a stored version with its problem, and stores that. Not in the transaction that stores the version, which would be open for it. */
export async function checked(
  { sql, ...checker }: VersionChecker & { readonly sql: Sql },
  version: EditableVersion,
): Promise<EditableVersion> {
  if (generationOf(version.templateId) !== 'dynamic') return version
  const problem = await problemOf(checker, version)
  if (problem !== version.problem) await updateProblem(sql, checker.accountId, version, problem)
  return { ...version, problem }
}

function unlessOverloaded(error: unknown): undefined {
  if (!(error instanceof ServiceError && error.errorName === 'overloaded')) throw error
}
