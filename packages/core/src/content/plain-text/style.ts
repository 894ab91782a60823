/** The effects of the style of an element on its text. */
export interface Style {
  /** Nothing in it is shown, such as a preheader. */
  readonly isHiding: boolean
  /** Whether letters have no size; undefined if they are as those around it. */
  readonly isTiny?: boolean | undefined
  /** How white space is read; undefined as around it. */
  readonly space?: Space | undefined
}

/** `pre`: as it is; `pre-line`: its line ends count. */
export type Space = 'normal' | 'pre' | 'pre-line'

export const NO_STYLE: Style = { isHiding: false }

const MAY_MATTER = /display|visibility|opacity|height|width|font|white-space/i
/** Longer styles change nothing. */
const MAX_STYLE = 2048
const IMPORTANT = '!important'

const SPACES: Readonly<Record<string, Space>> = {
  normal: 'normal',
  nowrap: 'normal',
  pre: 'pre',
  'pre-wrap': 'pre',
  'break-spaces': 'pre',
  'pre-line': 'pre-line',
}

/** Reads a style attribute. What mso-hide hides is shown by all programs but Outlook. */
export function styleOf(written: string): Style {
  if (written.length > MAX_STYLE || !MAY_MATTER.test(written)) return NO_STYLE
  const values = declarationsIn(written)
  const isZero = (name: string): boolean => Number.parseFloat(values.get(name) ?? '') === 0
  const isClipped = /^(?:hidden|clip)/.test(values.get('overflow') ?? '')
  return {
    isHiding:
      values.get('display') === 'none' ||
      /^(?:hidden|collapse)$/.test(values.get('visibility') ?? '') ||
      isZero('opacity') ||
      isZero('max-height') ||
      (isClipped && (isZero('height') || isZero('width') || isZero('max-width'))),
    isTiny: isTiny(values.get('font-size') ?? sizeIn(values.get('font') ?? '')),
    space: SPACES[values.get('white-space') ?? ''],
  }
}

/** The last value of each property counts, unless an earlier one is important. */
function declarationsIn(written: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  const important = new Set<string>()
  for (const declaration of written.toLowerCase().split(';')) {
    const colon = declaration.indexOf(':')
    if (colon === -1) continue
    const name = declaration.slice(0, colon).trim()
    const value = declaration.slice(colon + 1).trim()
    const isImportant = value.replaceAll(' ', '').endsWith(IMPORTANT)
    if (important.has(name) && !isImportant) continue
    if (isImportant) important.add(name)
    values.set(name, (value.split('!', 1)[0] ?? '').trim())
  }
  return values
}

/** Builders of newsletters give cells the size 0, and their contents another one. A share of nothing is nothing. */
function isTiny(size: string): boolean | undefined {
  const number = Number.parseFloat(size)
  if (number === 0) return true
  if (Number.isNaN(number)) return /^(?:x*-?small|medium|x*-?large|initial)$/.test(size) ? false : undefined
  return /(?:[\d.](?:em|ex|ch)|%)$/.test(size) ? undefined : false
}

/** The size in a `font`: the first number with a unit, or 0. A number without is a weight. */
function sizeIn(font: string): string {
  const sizes = font.split(' ').map((word) => word.split('/', 1)[0] ?? '')
  return sizes.find((word) => /^[\d.]/.test(word) && (/[a-z%]$/.test(word) || Number(word) === 0)) ?? ''
}
