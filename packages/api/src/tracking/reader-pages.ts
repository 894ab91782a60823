import type { LeftMail, ReaderGroup, ReaderView } from '@postrider/core'
import { foreign, type Html, html, slimDocument, type Value } from '@postrider/ui'
import {
  dayOf,
  directionOf,
  LANGUAGE_NAMES,
  READER_LANGUAGES,
  type ReaderLanguage,
  wordsOf,
} from './reader-language.ts'

/** Subject of a page. `view` is null if the message is no longer stored, or if the database does not respond. */
export interface ReaderPage {
  readonly language: ReaderLanguage
  readonly view: ReaderView | null
  /** Whether the link is for a group. */
  readonly isOfGroup: boolean
  /** The link to the other page of the same message. */
  readonly other: string
}

/** The page of an unsubscribe link: a question with one button, or what the recipient said before. */
export function unsubscribePage(page: ReaderPage): Promise<string> {
  const { language, view, isOfGroup } = page
  if (view?.left || (isOfGroup && view?.groupLeft)) return leftPage(page)
  const words = wordsOf(language)
  const text = sentenceFor(page, {
    all: words.leaveAll,
    allUnknown: words.leaveAllUnknown,
    group: words.leaveGroup,
    kind: words.leaveKind,
    kindUnknown: words.leaveKindUnknown,
  })
  return documentOf(
    page,
    words.unsubscribe,
    html`<p>${text}</p><form method="post"><input type="hidden" name="List-Unsubscribe" value="One-Click"><button class="main" type="submit">
      ${words.unsubscribe}</button></form>${choose(page)}`,
  )
}

/** The page after unsubscribing. Without a view nothing can be taken back on it. */
export function leftPage(page: ReaderPage): Promise<string> {
  const { language, view, isOfGroup } = page
  const words = wordsOf(language)
  const isAll = view?.left != null || !isOfGroup
  const text = sentenceFor(
    { ...page, isOfGroup: !isAll },
    {
      all: words.leftAll,
      allUnknown: words.leftAllUnknown,
      group: words.leftGroup,
      kind: words.leftKind,
      kindUnknown: words.leftKindUnknown,
    },
  )
  const left = (isAll ? view?.left : view?.groupLeft) ?? null
  return documentOf(page, words.leftTitle, html`<p>${text}</p>${undo(language, left, isAll)}${!isAll && choose(page)}`)
}

/** The page after subscribing again. */
export function backPage(page: ReaderPage): Promise<string> {
  const { backTitle, backText } = wordsOf(page.language)
  return documentOf(page, backTitle, html`<p>${backText}</p>${choose(page)}`)
}

/** The page where a recipient chooses among groups. `view` has at least one. */
export function preferencesPage(page: ReaderPage & { readonly view: ReaderView }, isSaved: boolean): Promise<string> {
  const { language, view } = page
  const words = wordsOf(language)
  if (view.left) return leftPage({ ...page, isOfGroup: false })
  const ids = view.groups.map(({ id }) => id).join(',')
  return documentOf(
    page,
    words.preferences,
    html`${isSaved && html`<p class="said" role="status">${words.saved}</p>`}<p>${filled(words.preferencesLead, { sender: senderOf(view) })}</p>
<form method="post"><input type="hidden" name="shown" value="${ids}"><fieldset><legend>${words.emails}</legend>
  ${view.groups.map((group) => groupBox(language, group))}</fieldset><button class="main" type="submit" name="do" value="save">${words.save}</button></form>
<form class="more" method="post"><p>${words.leaveEverything}</p><p><button type="submit" name="do" value="leave">${words.leaveEverythingButton}
  </button></p></form>`,
  )
}

/** The page after saving the choice if what is saved now cannot be shown: it must not look as if nothing had been saved. */
export function savedPage({ language }: ReaderPage): Promise<string> {
  const words = wordsOf(language)
  return documentOf(
    { language },
    words.preferences,
    html`<p class="said" role="status">${words.saved}</p><p class="more"><a href="?lang=${language}">${words.choose}</a></p>`,
  )
}

/** A page that says why a request had no effect. */
export function failurePage(language: ReaderLanguage, why: 'broken' | 'expired' | 'busy' | 'error'): Promise<string> {
  const words = wordsOf(language)
  return documentOf({ language }, words[`${why}Title`], html`<p>${words[`${why}Text`]}</p>`)
}

function groupBox(language: ReaderLanguage, { id, name, description, left }: ReaderGroup): Html {
  const isFixed = left !== null && !left.isLiftable
  return html`<label><input type="checkbox" name="group" value="${id}"${left === null && html` checked`}${isFixed && html` disabled`}><span><strong>
    ${foreign(name)}</strong>${description !== '' && html`<small>${foreign(description)}</small>`}${
      left &&
      html`<small>${since(language, left)}
    </small>`
    }</span></label>`
}

function undo(language: ReaderLanguage, left: LeftMail | null, isAll: boolean): Html {
  const words = wordsOf(language)
  if (!left?.isLiftable) return html`<p class="dim small">${words.contact}</p>`
  return html`<p class="dim small">${since(language, left)}</p><form method="post"><p>${words.mistake}</p><p>
    <button type="submit" name="do" value="${isAll ? 'again-all' : 'again'}">${words.again}</button></p></form>`
}

function since(language: ReaderLanguage, left: LeftMail): Value {
  return filled(wordsOf(language).since, { date: html`${dayOf(language, left.since)}` })
}

function choose({ language, view, other }: ReaderPage): Value {
  const canChoose = view !== null && view.groups.length > 0 && !view.left
  return canChoose && html`<p class="more"><a href="../p/${other}?lang=${language}">${wordsOf(language).choose}</a></p>`
}

interface Sentences {
  readonly all: string
  readonly allUnknown: string
  readonly group: string
  readonly kind: string
  readonly kindUnknown: string
}

function sentenceFor({ view, isOfGroup }: ReaderPage, sentences: Sentences): Value {
  if (!view) return isOfGroup ? sentences.kindUnknown : sentences.allUnknown
  const sender = senderOf(view)
  if (!isOfGroup) return filled(sentences.all, { sender })
  if (!view.group) return filled(sentences.kind, { sender })
  return filled(sentences.group, { sender, group: html`<strong>${foreign(view.group.name)}</strong>` })
}

function senderOf({ domain }: ReaderView): Html {
  return html`<strong>${foreign(domain)}</strong>`
}

/** Puts pieces at the marks of a sentence. */
function filled(sentence: string, pieces: Readonly<Record<string, Html>>): Value {
  return sentence.split(/\{(\w+)\}/).map((part, at) => (at % 2 === 0 ? part : pieces[part]))
}

function documentOf({ language }: Pick<ReaderPage, 'language'>, title: string, content: Html): Promise<string> {
  const items = READER_LANGUAGES.map((one) => {
    const name = html`<bdi>${LANGUAGE_NAMES[one]}</bdi>`
    return html`<li><a href="?lang=${one}" lang="${one}" hreflang="${one}" rel="nofollow"${one === language && html` aria-current="true"`}>${name}</a></li>`
  })
  return slimDocument({
    language,
    direction: directionOf(language),
    title,
    body: html`<main><h1>${title}</h1>${content}</main>
<footer><details><summary>${wordsOf(language).language}: ${LANGUAGE_NAMES[language]}</summary><ul>${items}</ul></details></footer>`,
  })
}
