import { Parser } from 'htmlparser2'
import { type Note, noteCss } from './css-features.ts'

/** Style sheets beyond this are not read. */
const MAX_CSS = 256 * 1024
const HEADINGS = /^h[1-6]$/
const IMAGE_FILE = /\.(apng|avif|bmp|gif|hdr|heif|ico|jpe?g|mp4|png|svg|tiff|webp)(?:[?#]|$)/i
const IMAGE_TYPES: Readonly<Record<string, string>> = { jpeg: 'jpg' }
const SEMANTIC = new Set(
  'article aside details figcaption figure footer header main mark nav section summary time'.split(' '),
)
/** Elements whose feature has another name. */
const ELEMENTS: Readonly<Record<string, string>> = {
  ul: 'html-lists',
  ol: 'html-lists',
  dl: 'html-lists',
  map: 'html-image-maps',
  area: 'html-image-maps',
}
const ATTRIBUTES: Readonly<Record<string, string>> = {
  loading: 'html-loading-attribute',
  srcset: 'html-srcset',
  sizes: 'html-srcset',
}
/** Attributes that are tested under their own name. */
const OWN_ATTRIBUTES = new Set(
  (
    'align aria-describedby aria-hidden aria-label aria-labelledby aria-live background cellpadding cellspacing dir height hidden lang popover ' +
    'required role target valign width'
  ).split(' '),
)

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
      for (const attribute of Object.keys(attributes)) {
        if (OWN_ATTRIBUTES.has(attribute)) note(`html-${attribute}`)
        else if (Object.hasOwn(ATTRIBUTES, attribute)) note(ATTRIBUTES[attribute] as string)
      }
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
  else if (HEADINGS.test(name)) note('html-h1-h6')
  else if (SEMANTIC.has(name)) note('html-semantics')
  else if (name === 'meta') attributes.name?.toLowerCase() === 'color-scheme' && note('html-meta-color-scheme')
  else note(Object.hasOwn(ELEMENTS, name) ? (ELEMENTS[name] as string) : `html-${name}`)
  if (name === 'a' && href.startsWith('#')) note('html-anchor-links')
  if (name === 'a' && href.slice(0, 7).toLowerCase() === 'mailto:') note('html-mailto-links')
  if (name === 'img') noteImage(src.slice(0, 2000), note)
}

function noteImage(src: string, note: Note): void {
  if (src.startsWith('data:')) {
    note('image-base64')
    return
  }
  const type = IMAGE_FILE.exec(src)?.[1]?.toLowerCase() ?? ''
  if (type !== '') note(`image-${Object.hasOwn(IMAGE_TYPES, type) ? IMAGE_TYPES[type] : type}`)
}
