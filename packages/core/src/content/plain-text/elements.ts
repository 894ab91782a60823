/** How an element shows in plain text. Elements that are missing here are inline. */
export interface ElementKind {
  /** Line ends before and after it: 1 for a new line, 2 for a blank line between. */
  readonly breaks: 0 | 1 | 2
  /** Its effect besides that. */
  readonly role?: ElementRole
}

/** `closed`: elements whose end counts, because lines within them differ. `skipped`: what is within is not shown. `edit`: removed or
 * inserted words; `words`: quoted ones, in quotation marks. */
export type ElementRole = ClosedRole | 'break' | 'rule' | 'image' | 'link' | 'paragraph' | 'skipped' | 'edit' | 'words'
export type ClosedRole = 'list' | 'item' | 'quote' | 'pre' | 'table' | 'row' | 'cell'

const CLOSED: ReadonlySet<string> = new Set<ClosedRole>(['list', 'item', 'quote', 'pre', 'table', 'row', 'cell'])

/** Returns whether the end of the element counts. */
export function isClosed(kind: ElementKind): kind is ElementKind & { readonly role: ClosedRole } {
  return kind.role !== undefined && CLOSED.has(kind.role)
}

const LINE: ElementKind = { breaks: 1 }
const BLOCK: ElementKind = { breaks: 2 }
const SKIPPED: ElementKind = { breaks: 0, role: 'skipped' }
const CELL: ElementKind = { breaks: 0, role: 'cell' }
const LIST: ElementKind = { breaks: 2, role: 'list' }

const named = (names: string, kind: ElementKind): [string, ElementKind][] =>
  names.split(' ').map((name) => [name, kind])

export const ELEMENTS: ReadonlyMap<string, ElementKind> = new Map([
  ...named(
    'address article aside body caption center dd details dir div dl dt fieldset figcaption figure footer form',
    LINE,
  ),
  ...named('header html legend main nav section summary tbody tfoot thead', LINE),
  ...named('h1 h2 h3 h4 h5 h6', BLOCK),
  ...named('p', { breaks: 2, role: 'paragraph' }),
  ...named('ul ol menu', LIST),
  ...named('li', { breaks: 1, role: 'item' }),
  ...named('blockquote', { breaks: 2, role: 'quote' }),
  ...named('pre xmp listing plaintext', { breaks: 2, role: 'pre' }),
  ...named('table', { breaks: 2, role: 'table' }),
  ...named('tr', { breaks: 1, role: 'row' }),
  ...named('td th', CELL),
  ...named('br', { breaks: 0, role: 'break' }),
  ...named('hr', { breaks: 2, role: 'rule' }),
  ...named('img', { breaks: 0, role: 'image' }),
  ...named('a', { breaks: 0, role: 'link' }),
  ...named('del ins s strike', { breaks: 0, role: 'edit' }),
  ...named('q', { breaks: 0, role: 'words' }),
  ...named(
    'audio canvas datalist iframe map noembed noframes object script select style template textarea title video',
    SKIPPED,
  ),
])

/** Elements without content, which have no end (HTML 13.1.2). */
export const VOID: ReadonlySet<string> = new Set(
  'area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr'.split(' '),
)

/** Characters of the longest name that matters. */
export const MAX_NAME = 10

/** Attributes that disable tracking of a link: Postrider's own, and those of SendGrid and Postmark. */
export const TRACKING_OFF: readonly string[] = ['data-postrider-track', 'clicktracking']
export const TRACKING_OFF_WITHOUT_VALUE = 'data-pm-no-track'
