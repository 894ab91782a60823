import { LANGUAGES } from '@postrider/ui'
import type { Answer, PreferencesAnswer } from '../../frame/answer.ts'
import { type Call, field } from '../../frame/call.ts'
import { ownPath } from './own-path.ts'

/** Keeps the language and the appearance in cookies of this browser. */
export async function choosePreferences({ form }: Call): Promise<Answer> {
  const language = LANGUAGES.find((one) => one === field(form, 'language'))
  const theme = (['light', 'dark', 'auto'] as const).find((one) => one === field(form, 'theme'))
  const answer: PreferencesAnswer = { kind: 'preferences', to: ownPath(field(form, 'to')), language, theme }
  return answer
}
