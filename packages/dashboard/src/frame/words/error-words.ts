import { ERRORS, type ErrorName } from '@postrider/core'
import type { Language } from '@postrider/ui'
import { LABELS, PREDICATES } from './problem-words.ts'

/** Core's sentences in German, for those errors that a page can cause. Braces stand for values, as in core's table. */
const GERMAN: Readonly<Partial<Record<ErrorName, string>>> = {
  parameterMissing: '{parameter} fehlt',
  accountExpired: 'Das Konto ist abgelaufen',
  accountSuspended: 'Das Konto ist gesperrt',
  accountClosed: 'Das Konto ist geschlossen',
  subjectMissing: 'Der Betreff fehlt',
  contentMissing: 'Der Inhalt fehlt',
  recipientsMissing: 'Es fehlt ein Empfänger',
  recipientsTooMany: 'Zu viele Empfänger: höchstens {limit} je Aufruf',
  domainInvalid: 'Der Domainname ist ungültig',
  domainTaken: 'Die Domain ist schon hinzugefügt',
  domainUnknown: 'Diese Domain gibt es nicht',
  suppressionEmailInvalid: 'Die E-Mail-Adresse ist ungültig',
  suppressionDomainInvalid: 'Die Domain ist ungültig',
  groupUnknown: 'Diese Gruppe gibt es nicht',
  groupNameTaken: 'Der Name der Gruppe ist schon vergeben',
  csvInvalid: 'Die CSV-Datei ist ungültig: {problem}',
  templateNameInvalid: 'Der Name der Vorlage ist ungültig',
  templateBlank: 'Die Vorlage hat keinen Inhalt',
  templateTooLarge: 'Die Vorlage muss kleiner als 10 MB sein',
  templateNameTaken: 'Der Name der Vorlage ist schon vergeben',
  templatesTooMany: 'Ein Konto kann höchstens {limit} Vorlagen haben',
  templateVersionsTooMany: 'Eine Vorlage kann höchstens {limit} Versionen haben',
  templatesFull: 'Der Speicher für Vorlagen ({limit}) ist voll',
  dateInvalid: 'Anfang und Ende müssen die Form jjjj-mm-tt haben',
  datesReversed: 'Der Anfang muss vor dem Ende liegen',
  exportDateInvalid: 'Anfang und Ende müssen die Form jjjj-mm-tt haben',
  exportDatesReversed: 'Der Anfang darf nicht nach dem Ende liegen',
  exportNotQueued: 'Der Export kann nicht gelöscht werden: Er wartet nicht mehr',
  creditsExhausted: 'Das Guthaben reicht für diese Empfänger nicht. Laden Sie es auf, und senden Sie erneut',
  creditInvalid: 'Das Guthaben ist ungültig: {problem}',
  messageNotFound: 'Diese Nachricht gibt es nicht',
  messageBodyGone: 'Der Inhalt der Nachricht ist nicht mehr gespeichert',
  messageDue: 'Keine Zustellung der Nachricht wartet auf eine geplante Zeit',
  usernameInvalid: 'Der Benutzername ist ungültig',
  usernameTaken: 'Der Benutzername ist schon vergeben',
  subaccountUnknown: 'Dieses Unterkonto gibt es nicht',
  subaccountEmailInvalid: 'Die E-Mail-Adresse ist ungültig',
  subaccountNested: 'Ein Unterkonto kann keine Unterkonten haben',
  passwordWeak: 'Das Passwort entspricht nicht den Regeln: {problem}',
  keyRestricted: 'Das ist mit Ihren Rechten nicht erlaubt',
  keysTooMany: 'Ein Konto kann höchstens {limit} aktive Schlüssel haben',
  rateLimited: 'Die Grenze von {limit} {what} ist erreicht. Versuchen Sie es in {seconds} s erneut',
  webhookUrlInvalid: 'Die URL ist ungültig: {problem}',
  webhookEventInvalid: 'Dieses Ereignis gibt es nicht: {event}',
  webhookUnanswered: 'Die Prüfung der URL ist gescheitert: {problem}',
  webhooksTooMany: 'Ein Konto kann höchstens {limit} Webhooks haben',
  webhookReplayInvalid: 'In den letzten {days} Tagen gibt es kein Ereignis mit dieser Nummer',
  linkInvalid: 'Der Link ist ungültig, abgelaufen oder schon benutzt. Fordern Sie einen neuen an',
  codeInvalid: 'Der Code ist ungültig oder schon benutzt',
  reauthenticationNeeded: 'Bestätigen Sie zuerst Ihr Passwort',
  signUpClosed: 'Hier kann man sich nicht registrieren; bitten Sie um eine Einladung',
  passkeyInvalid: 'Der Passkey konnte nicht geprüft werden. Versuchen Sie es erneut',
  roleChanged: 'Ihre Sitzung ist beendet, oder Ihre Rolle hat sich geändert. Laden Sie die Seite neu',
  memberUnknown: 'Dieser Benutzer gehört nicht zum Konto',
  lastOwner:
    'Der letzte Inhaber oder Betreiber, der sich anmelden kann, lässt sich nicht entfernen. Geben Sie die Rolle zuerst einem anderen',
  tooLarge: 'Die Eingabe darf höchstens {limit} groß sein',
  overloaded: 'Der Dienst ist ausgelastet. Versuchen Sie es später erneut',
}

/** A sentence of core, as a page says it: in its language, with the field in the page's words. What is not known stays as core has it. */
export function problemText(language: Language, sentence: string): string {
  const invalid = valuesIn(ERRORS.parameterInvalid.sentence, sentence)
  if (invalid) return `${labelOf(language, invalid.parameter ?? '')}: ${predicateOf(language, invalid.problem ?? '')}`
  const missing = valuesIn(ERRORS.parameterMissing.sentence, sentence)
  if (language === 'en') return missing ? `${labelOf(language, missing.parameter ?? '')} is missing` : sentence
  for (const [name, german] of Object.entries(GERMAN) as [ErrorName, string][]) {
    const values = valuesIn(ERRORS[name].sentence, sentence)
    if (values) return filled(german, missing ? { parameter: labelOf(language, missing.parameter ?? '') } : values)
  }
  return sentence
}

function labelOf(language: Language, parameter: string): string {
  const camel = parameter.replace(/_([a-z])/g, (_whole, letter: string) => letter.toUpperCase())
  return LABELS[camel]?.[language] ?? parameter
}

function predicateOf(language: Language, problem: string): string {
  if (language === 'en') return problem
  for (const [english, german] of PREDICATES) {
    const values = valuesIn(english, problem)
    if (values) return filled(german, values)
  }
  return problem
}

/** The values that the braces of a template stand for in a text; undefined if the text is not of this template. */
function valuesIn(template: string, text: string): Readonly<Record<string, string>> | undefined {
  const values: Record<string, string> = {}
  let [at, from] = [0, 0]
  for (let open = template.indexOf('{'); open !== -1; open = template.indexOf('{', from)) {
    const before = template.slice(from, open)
    if (!text.startsWith(before, at)) return undefined
    const close = template.indexOf('}', open)
    const next = template.indexOf('{', close)
    const after = template.slice(close + 1, next === -1 ? undefined : next)
    const start = at + before.length
    const end = after === '' ? text.length : text.indexOf(after, start)
    if (end === -1) return undefined
    values[template.slice(open + 1, close)] = text.slice(start, end)
    ;[at, from] = [end, close + 1]
  }
  return text.slice(at) === template.slice(from) ? values : undefined
}

function filled(template: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((text, [name, value]) => text.replace(`{${name}}`, () => value), template)
}
