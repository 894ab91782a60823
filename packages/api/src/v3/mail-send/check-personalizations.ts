import { isDynamic, isGiven, MAX_RECIPIENTS, type RawMailbox, type RawPersonalization } from './body.ts'
import { checkHeaders } from './check-headers.ts'
import { addressOf, checkName, isTooLong } from './check-mailboxes.ts'
import { checkSendAt } from './check-options.ts'
import type { Check, ValidationErrors } from './validation-errors.ts'

/** Maximum size of the substitutions, and of the custom arguments, of one personalization, in bytes. */
const MAX_BYTES = 10_000
const LISTS = [
  ['to', 'To'],
  ['cc', 'CC'],
  ['bcc', 'BCC'],
] as const

/** Rows 1 to 26. */
export function checkPersonalizations(check: Check): void {
  const { mail, errors } = check
  const { personalizations } = mail
  if (!isGiven(personalizations) || personalizations.length === 0) {
    errors.add('personalizationsMissing', 'personalizations')
    return
  }
  const { length } = personalizations
  if (length > MAX_RECIPIENTS) {
    errors.add('personalizationsTooMany', 'personalizations', { count: length })
    return
  }
  const count = personalizations.reduce((sum, one) => sum + countOf(one.to) + countOf(one.cc) + countOf(one.bcc), 0)
  if (count > MAX_RECIPIENTS) {
    errors.add('recipientsTooMany', 'personalizations', { count })
    return
  }
  const sharedArgs = new SharedArgs(mail.custom_args)
  const shared = sharedArgs.size
  if (shared > MAX_BYTES) errors.add('customArgsTooLarge', 'custom_args')
  for (const [at, one] of personalizations.entries()) {
    const field = `personalizations.${at}`
    checkRecipients(one, field, errors)
    checkSender(one, field, check)
    if (isGiven(one.subject) && (typeof one.subject !== 'string' || one.subject === '')) {
      errors.add('subjectInvalid', `${field}.subject`)
    }
    checkHeaders(one.headers, `${field}.headers`, errors)
    checkSubstitutions(one, field, check)
    if (shared <= MAX_BYTES) checkCustomArgs(one, field, errors, sharedArgs)
    checkSendAt(one.send_at, `${field}.send_at`, check)
  }
}

function countOf(list: readonly RawMailbox[] | null | undefined): number {
  return list?.length ?? 0
}

function checkRecipients(one: RawPersonalization, field: string, errors: ValidationErrors): void {
  if (countOf(one.to) === 0) errors.add('toMissing', `${field}.to`)
  const seen = new Set<string>()
  let duplicate = false
  for (const [name, shown] of LISTS) {
    for (const [at, mailbox] of (one[name] ?? []).entries()) {
      const place = `${field}.${name}.${at}`
      checkName(mailbox, place, errors)
      if (!isGiven(mailbox.email)) errors.add('emailMissing', `${place}.email`, { list: name })
      else if (isTooLong(mailbox.email)) errors.add('emailTooLong', `${place}.email`, { list: shown })
      else {
        const address = addressOf(mailbox.email)
        if (!address) errors.add('addressInvalid', `${place}.email`)
        else if (seen.has(address.key) && !duplicate) {
          duplicate = true
          errors.add('recipientTwice', field, { address: address.key, field: `${field}.${name}` })
        }
        if (address) seen.add(address.key)
      }
    }
  }
}

/** Row 11: the whole message is signed by one domain. */
function checkSender({ from }: RawPersonalization, field: string, { mail, errors }: Check): void {
  if (!isGiven(from)) return
  checkName(from, `${field}.from`, errors)
  const own = addressOf(from.email)
  const shared = addressOf(mail.from?.email)
  if (isTooLong(from.email)) errors.add('emailTooLong', `${field}.from.email`, { list: 'From' })
  else if (!own) errors.add('addressInvalid', `${field}.from.email`)
  else if (shared && shared.domain !== own.domain) errors.add('fromDomainDiffers', `${field}.from`)
}

function checkSubstitutions({ substitutions }: RawPersonalization, field: string, { mail, errors }: Check): void {
  if (!isGiven(substitutions)) return
  const place = `${field}.substitutions`
  const entries = Object.entries(substitutions)
  if (entries.length > 0 && isDynamic(mail.template_id)) errors.add('substitutionsWithDynamic', place)
  if (entries.length > 10_000) errors.add('substitutionsTooMany', place)
  const octets = entries.flat().reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  if (octets > MAX_BYTES) errors.add('substitutionsTooLarge', place)
}

/** Rows 19 and 20. The message's own arguments were already found small enough, so merging them is cheap. */
function checkCustomArgs(
  { custom_args: own }: RawPersonalization,
  field: string,
  errors: ValidationErrors,
  shared: SharedArgs,
): void {
  if (!isGiven(own)) return
  const place = `${field}.custom_args`
  if (Object.keys(own).length === 0) errors.add('customArgsEmpty', place)
  else if (sizeOf(own) > MAX_BYTES || shared.sizeWith(own) > MAX_BYTES) {
    errors.add('customArgsTooLarge', place)
  }
}

/**
 * The message's custom arguments, measured once: merging 10 kB of them with those of each of 1000 personalizations took half a
 * second.
 */
class SharedArgs {
  readonly size: number
  readonly #sizes: ReadonlyMap<string, number>

  constructor(args: Readonly<Record<string, string>> | null | undefined) {
    this.size = sizeOf(args)
    this.#sizes = new Map(Object.entries(args ?? {}).map(([name, value]) => [name, sizeOf({ [name]: value })]))
  }

  /** Returns the size of both merged, as JSON, in bytes. */
  sizeWith(own: Readonly<Record<string, string>>): number {
    if (this.#sizes.size === 0) return sizeOf(own)
    let size = this.size
    for (const [name, value] of Object.entries(own)) {
      const before = this.#sizes.get(name)
      // The JSON of an object with one member has two bytes for the braces; a comma is one.
      size += before === undefined ? sizeOf({ [name]: value }) - 1 : sizeOf({ [name]: value }) - before
    }
    return size
  }
}

function sizeOf(args: Readonly<Record<string, string>> | null | undefined): number {
  return isGiven(args) ? Buffer.byteLength(JSON.stringify(args)) : 0
}
