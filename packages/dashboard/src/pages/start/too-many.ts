import type { Call } from '../../frame/call.ts'
import { startWords } from './start-words.ts'

/** Why nothing was tried, and when it can be. */
export function tooManyText({ format, language }: Pick<Call, 'format' | 'language'>, until: Date): string {
  const words = startWords(language)
  return `${words.tooMany} ${words.tooManyUntil} ${format.plainTime(until)}.`
}
