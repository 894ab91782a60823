import { catalogue } from '../words.ts'

export const proofWords = catalogue({
  en: {
    title: 'Confirm that it is you',
    lead: 'This needs your password or a passkey again, so that no other person can do it in your session. It is then enough for 10 minutes.',
    password: 'Your password',
    newPassword: 'The new password, once more',
    confirm: 'Continue',
    usePasskey: 'Use a passkey instead',
    refused: 'This is not your password.',
    tooMany: (until: string) => `Too many attempts. Try again at ${until}.`,
    otherwise:
      'If you have neither a password nor a passkey, log out and log in again, then repeat the change within 10 minutes.',
    back: 'Go back',
  },
  de: {
    title: 'Bestätigen Sie, dass Sie es sind',
    lead: 'Dafür ist noch einmal Ihr Passwort oder ein Passkey nötig, damit es niemand anderes in Ihrer Sitzung tut. Das gilt dann 10 Minuten lang.',
    password: 'Ihr Passwort',
    newPassword: 'Das neue Passwort noch einmal',
    confirm: 'Weiter',
    usePasskey: 'Stattdessen mit Passkey',
    refused: 'Das ist nicht Ihr Passwort.',
    tooMany: (until) => `Zu viele Versuche. Erneut möglich um ${until}.`,
    otherwise:
      'Wenn Sie weder Passwort noch Passkey haben, melden Sie sich ab und wieder an, und wiederholen Sie die Änderung binnen 10 Minuten.',
    back: 'Zurück',
  },
})
