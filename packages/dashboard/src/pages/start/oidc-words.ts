import { catalogue } from '../../frame/words.ts'

/** The log-in through an OpenID provider, which is called by its host. */
export const oidcWords = catalogue({
  en: {
    continueWith: (host: string) => `Continue with ${host}`,
    only: (host: string) => `Passwords are not accepted here. Log in through ${host}.`,
    unreachable: (host: string) => `${host} cannot be reached at present. Try again in a minute.`,
    refused: {
      expired: () =>
        'This log-in was begun in another browser, was used already, or took longer than 10 minutes. Start again.',
      cancelled: (host: string) => `${host} did not log you in. Start again, or ask those who run it.`,
      invalid: (host: string) =>
        `The answer of ${host} could not be verified, so you are not logged in. Start again; if that does not help, ask the operator of this service.`,
      unverified: (host: string) =>
        `${host} has not verified your e-mail address. Confirm the address there, then start again.`,
      unknown: () =>
        'No user here has your e-mail address, and it was not invited. Ask an owner of the account to invite you.',
      unlinked: (host: string) =>
        `A user here has your e-mail address, but cannot log in through ${host}: the user is disabled, has not confirmed the address, or belongs to ` +
        `another person there. Ask the operator of this service.`,
    },
  },
  de: {
    continueWith: (host) => `Weiter mit ${host}`,
    only: (host) => `Passwörter werden hier nicht angenommen. Melden Sie sich über ${host} an.`,
    unreachable: (host) => `${host} ist zurzeit nicht erreichbar. Versuchen Sie es in einer Minute noch einmal.`,
    refused: {
      expired: () =>
        'Diese Anmeldung wurde in einem anderen Browser begonnen, wurde schon benutzt oder dauerte länger als 10 Minuten. Beginnen Sie von vorn.',
      cancelled: (host) => `${host} hat Sie nicht angemeldet. Beginnen Sie von vorn, oder fragen Sie dort nach.`,
      invalid: (host) =>
        `Die Antwort von ${host} konnte nicht geprüft werden; Sie sind nicht angemeldet. Beginnen Sie von vorn; wenn das nicht hilft, fragen Sie den ` +
        `Betreiber dieses Dienstes.`,
      unverified: (host) =>
        `${host} hat Ihre E-Mail-Adresse nicht bestätigt. Bestätigen Sie die Adresse dort und beginnen Sie von vorn.`,
      unknown: () =>
        'Hier hat niemand Ihre E-Mail-Adresse, und sie wurde nicht eingeladen. Bitten Sie einen Inhaber des Kontos um eine Einladung.',
      unlinked: (host) =>
        `Jemand hier hat Ihre E-Mail-Adresse, kann sich aber nicht über ${host} anmelden: gesperrt, Adresse nicht bestätigt, oder dort eine andere ` +
        `Person. Fragen Sie den Betreiber dieses Dienstes.`,
    },
  },
})
