import { preferredLanguage } from '@postrider/ui'
import type { FastifyRequest } from 'fastify'
import { ar } from './words/ar.ts'
import { de } from './words/de.ts'
import { en } from './words/en.ts'
import { es } from './words/es.ts'
import { fr } from './words/fr.ts'
import { it } from './words/it.ts'
import { ja } from './words/ja.ts'
import { nl } from './words/nl.ts'
import { pl } from './words/pl.ts'
import { pt } from './words/pt.ts'
import type { ReaderWords } from './words/reader-words.ts'

/** Languages of the pages for recipients, in the order of the menu. English comes first: it is for those who read none of them. */
export const READER_LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'ja', 'ar'] as const
export type ReaderLanguage = (typeof READER_LANGUAGES)[number]

const WORDS: Readonly<Record<ReaderLanguage, ReaderWords>> = { en, de, fr, es, it, pt, nl, pl, ja, ar }

/** Each language in its own words. */
export const LANGUAGE_NAMES: Readonly<Record<ReaderLanguage, string>> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  it: 'Italiano',
  pt: 'Português',
  nl: 'Nederlands',
  pl: 'Polski',
  ja: '日本語',
  ar: 'العربية',
}

export function wordsOf(language: ReaderLanguage): ReaderWords {
  return WORDS[language]
}

export function directionOf(language: ReaderLanguage): 'ltr' | 'rtl' {
  return language === 'ar' ? 'rtl' : 'ltr'
}

/** The language chosen in the menu (`?lang=`), else the one that Accept-Language prefers, else English. */
export function readerLanguage({ query, headers }: FastifyRequest): ReaderLanguage {
  const { lang } = query as Readonly<Record<string, unknown>>
  const chosen = READER_LANGUAGES.find((language) => language === lang)
  return chosen ?? preferredLanguage(headers['accept-language'], READER_LANGUAGES)
}

/** A day as a reader of the language writes it, in UTC: the reader's time zone is not known. */
export function dayOf(language: ReaderLanguage, at: Date): string {
  return new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, { dateStyle: 'long', timeZone: 'UTC' }).format(
    at,
  )
}
