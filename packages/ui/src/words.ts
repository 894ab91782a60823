import type { Language } from './format.ts'

/** Texts of pages: sentences, and functions that put values into them. */
export type Words = { readonly [name: string]: string | ((...values: never[]) => string) | Words }

/** The same texts in another language: the same names, and functions of the same values. */
export type Same<W> = {
  readonly [Name in keyof W]: W[Name] extends string
    ? string
    : W[Name] extends (...values: infer V) => string
      ? (...values: V) => string
      : Same<W[Name]>
}

/** One part of the catalogue, in all languages. A text that one of them lacks is a type error. */
export function catalogue<W extends Words>(texts: {
  readonly en: W
  readonly de: Same<W>
}): (language: Language) => Same<W> {
  return (language) => (language === 'de' ? texts.de : (texts.en as unknown as Same<W>))
}
