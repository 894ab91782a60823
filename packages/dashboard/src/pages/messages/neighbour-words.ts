import { catalogue } from '../../frame/words.ts'

/** The requests that reported a message, and other messages. */
export const neighbourWords = catalogue({
  en: {
    calls: 'Webhook calls',
    noAnswer: 'no answer',
    attempt: (number: string) => `attempt ${number}`,
    same: 'To the same recipient',
    all: 'All to this recipient',
    tagged: (tag: string) => `All tagged ${tag}`,
  },
  de: {
    calls: 'Webhook-Aufrufe',
    noAnswer: 'keine Antwort',
    attempt: (number) => `Versuch ${number}`,
    same: 'An denselben Empfänger',
    all: 'Alle an diesen Empfänger',
    tagged: (tag) => `Alle mit dem Etikett ${tag}`,
  },
})
