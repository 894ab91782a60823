import { Parser } from 'htmlparser2'
import { type Note, named, noteCss } from './css-features.ts'

/** Style sheets beyond this are not read. */
const MAX_CSS = 256 * 1024
const IMAGE_FILE = /\.(apng|avif|bmp|gif|hdr|heif|ico|jpe?g|mp4|png|svg|tiff|webp)(?:[?#]|$)/i
/** Elements whose feature has another name. */
const ELEMENTS: Readonly<Record<string, string>> = {
  ...named('html-lists', 'ul', 'ol', 'dl'),
  ...named('html-image-maps', 'map', 'area'),
  ...named('html-h1-h6', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6'),
  ...named('html-semantics', 'article', 'aside', 'details', 'figcaption', 'figure', 'footer', 'header'),
  ...named('html-semantics', 'main', 'mark', 'nav', 'section', 'summary', 'time'),
}
/** Attributes that are tested under their own name. Others have the names of elements. */
const OWN_ATTRIBUTES = (
  'align aria-describedby aria-hidden aria-label aria-labelledby aria-live background cellpadding cellspacing dir height hidden lang popover ' +
  'required role target valign width'
).split(' ')
const ATTRIBUTES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(OWN_ATTRIBUTES.map((name) => [name, `html-${name}`])),
  ...named('html-loading-attribute', 'loading'),
  ...named('html-srcset', 'srcset', 'sizes'),
}

export interface HtmlFeatures {
  /** How often each feature is used, by its name in the data of caniemail.com. Also names that the data does not have. */
  readonly counts: ReadonlyMap<string, number>
  /** Number of elements. */
  readonly elements: number
}

/** Reads which features HTML uses, in one pass. */
export function featuresOf(html: string): HtmlFeatures {
  const counts = new Map<string, number>()
  const note: Note = (slug) => void counts.set(slug, (counts.get(slug) ?? 0) + 1)
  let elements = 0
  let css = ''
  let isStyle = false
  const parser = new Parser({
    onopentag(name, attributes) {
      elements++
      isStyle = name === 'style'
      noteElement(name, attributes, note)
      for (const attribute of Object.keys(attributes))
        if (Object.hasOwn(ATTRIBUTES, attribute)) note(ATTRIBUTES[attribute] as string)
      if (attributes.style && css.length < MAX_CSS) noteCss(attributes.style.slice(0, MAX_CSS), note)
    },
    ontext: (text) => void (isStyle && css.length < MAX_CSS && (css += text)),
    onclosetag: (name) => void (name === 'style' && (isStyle = false)),
    oncomment: () => note('html-comments'),
    onprocessinginstruction: (name) => void (name.toLowerCase() === '!doctype' && note('html-doctype')),
  })
  parser.write(html)
  parser.end()
  noteCss(css.slice(0, MAX_CSS), note)
  return { counts, elements }
}

function noteElement(name: string, attributes: Readonly<Record<string, string>>, note: Note): void {
  const { type = '', href = '', src = '' } = attributes
  if (name === 'input' || name === 'button')
    note(`html-${name}-${type.toLowerCase() || (name === 'input' ? 'text' : 'submit')}`)
  else if (name === 'meta') attributes.name?.toLowerCase() === 'color-scheme' && note('html-meta-color-scheme')
  else note(Object.hasOwn(ELEMENTS, name) ? (ELEMENTS[name] as string) : `html-${name}`)
  if (name === 'a' && href.startsWith('#')) note('html-anchor-links')
  if (name === 'a' && href.slice(0, 7).toLowerCase() === 'mailto:') note('html-mailto-links')
  if (name === 'img') noteImage(src.slice(0, 2000), note)
}

function noteImage(src: string, note: Note): void {
  const type = IMAGE_FILE.exec(src)?.[1]?.toLowerCase()
  if (src.startsWith('data:')) note('image-base64')
  else if (type !== undefined) note(`image-${type === 'jpeg' ? 'jpg' : type}`)
}
