import { catalogue } from '../words.ts'

export const passkeyWords = catalogue({
  en: {
    use: 'Use a passkey',
    failed: 'The browser gave no passkey. Try again, or use another way.',
    refused:
      'This passkey is not known here, or the page was open for more than 5 minutes. Try again, or use another way.',
  },
  de: {
    use: 'Mit Passkey anmelden',
    failed: 'Der Browser hat keinen Passkey geliefert. Versuchen Sie es noch einmal, oder auf einem anderen Weg.',
    refused:
      'Dieser Passkey ist hier nicht bekannt, oder die Seite war länger als 5 Minuten offen. Versuchen Sie es noch einmal, oder auf einem anderen Weg.',
  },
})
