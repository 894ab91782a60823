import { LANGUAGES } from '@postrider/ui'
import type { Answer, PreferencesAnswer } from '../../frame/answer.ts'
import { type Call, field } from '../../frame/call.ts'
import { TIME_ZONES } from '../../frame/preferences.ts'
import { ownPath } from './own-path.ts'

/** Keeps the language, the appearance and the time zone in cookies of this browser. */
export async function choosePreferences({ form }: Call): Promise<Answer> {
  const language = LANGUAGES.find((one) => one === field(form, 'language'))
  const theme = (['light', 'dark', 'auto'] as const).find((one) => one === field(form, 'theme'))
  const zone = ['account', ...TIME_ZONES].find((one) => one === field(form, 'zone'))
  const answer: PreferencesAnswer = { kind: 'preferences', to: ownPath(field(form, 'to')), language, theme, zone }
  return answer
}
