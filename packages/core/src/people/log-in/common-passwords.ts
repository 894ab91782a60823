import { requireLength, weak } from '../../platform/security/passwords.ts'

/** Passwords of the list that count: the most common ones. */
const COUNTED = 20_000
/** Words that an attacker tries here first (docs/people.md): refused also with digits or signs behind them. */
const CONTEXT = ['postrider', 'postmaster', 'dashboard', 'transactional', 'mailserver']

let common: Promise<ReadonlySet<string>> | undefined

/** Loaded when the first password is chosen, since few processes ever need it. */
async function load(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  const words = dictionary['passwords-common'].slice(0, COUNTED)
  return new Set(words.filter((word) => word.length >= 8))
}

/**
 * Throws passwordWeak unless the password has 8 to 200 characters and is neither one of the most common passwords nor one of
 * `own`, such as the user's name and address, nor a word of the context. Composition rules are not applied (NIST SP 800-63B 3.1.1.2).
 */
export async function requireUncommon(password: string, own: readonly string[]): Promise<void> {
  requireLength(password)
  const plain = password.normalize('NFC').toLowerCase()
  common ??= load()
  const hasFewCharacters = new Set(plain).size < 3
  if (hasFewCharacters || (await common).has(plain)) {
    throw weak('is one of the most common passwords; choose another one')
  }
  const parts = own.flatMap((text) => [text, ...text.split('@')]).map((text) => text.toLowerCase())
  if (parts.includes(plain)) throw weak('must not be your name or address')
  const isOfContext = CONTEXT.some((word) => plain.startsWith(word) && hasNoLetters(plain.slice(word.length)))
  if (isOfContext) throw weak('must not be a word of this service with digits behind it')
}

/** Digits and signs have no case. */
function hasNoLetters(text: string): boolean {
  return text.toUpperCase() === text.toLowerCase()
}
