import { catalogue } from '../../frame/words.ts'

export const passkeysWords = catalogue({
  en: {
    security: 'Profile and security',
    title: 'Passkeys',
    on: 'on',
    none: 'none',
    text:
      'A passkey logs you in with your fingerprint, face or screen lock instead of password and code. It works on this site ' +
      'only, so no other site can steal it.',
    add: 'Add a passkey',
    impossible: (url: string) =>
      `Passkeys need https and the name of a host, or localhost. This service has the URL ${url}; the operator sets it with PUBLIC_URL.`,
    since: (time: string) => `Added ${time}`,
    used: (time: string) => `last used ${time}`,
    unused: 'never used',
    remove: 'Remove',
    removeTitle: 'Remove this passkey?',
    removeText: 'It no longer logs you in. Remove it from your device or password manager as well.',
    newTitle: 'Add a passkey',
    newLead:
      'Your browser asks where to keep it: on this device, in a password manager, on a phone or on a security key.',
    name: 'Name',
    usualName: 'My passkey',
    nameHint: 'By which you recognize it later: the device, or the password manager.',
    create: 'Create the passkey',
    unsupported: (url: string) =>
      `This browser cannot create a passkey here. It must run JavaScript and be of 2025 or later, and the page must be open at ${url}.`,
    noAnswer: 'The browser gave no passkey. Try again.',
  },
  de: {
    security: 'Profil und Sicherheit',
    title: 'Passkeys',
    on: 'ein',
    none: 'keine',
    text:
      'Mit einem Passkey melden Sie sich durch Fingerabdruck, Gesicht oder Bildschirmsperre an statt mit Passwort und Code. Er ' +
      'gilt nur auf dieser Seite; keine andere kann ihn stehlen.',
    add: 'Passkey hinzufügen',
    impossible: (url) =>
      `Passkeys brauchen https und den Namen eines Hosts, oder localhost. Dieser Dienst hat die URL ${url}; der Betreiber setzt sie mit PUBLIC_URL.`,
    since: (time) => `Hinzugefügt ${time}`,
    used: (time) => `zuletzt benutzt ${time}`,
    unused: 'nie benutzt',
    remove: 'Entfernen',
    removeTitle: 'Diesen Passkey entfernen?',
    removeText: 'Er meldet Sie nicht mehr an. Entfernen Sie ihn auch aus Ihrem Gerät oder Passwortmanager.',
    newTitle: 'Passkey hinzufügen',
    newLead:
      'Ihr Browser fragt, wo er aufbewahrt wird: auf diesem Gerät, im Passwortmanager, auf einem Telefon oder auf einem Sicherheitsschlüssel.',
    name: 'Name',
    usualName: 'Mein Passkey',
    nameHint: 'Daran erkennen Sie ihn später: das Gerät oder der Passwortmanager.',
    create: 'Passkey erstellen',
    unsupported: (url) =>
      `Dieser Browser kann hier keinen Passkey erstellen. Er muss JavaScript ausführen und von 2025 oder später sein, und die Seite muss unter ` +
      `${url} offen sein.`,
    noAnswer: 'Der Browser hat keinen Passkey geliefert. Versuchen Sie es noch einmal.',
  },
})
