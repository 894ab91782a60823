/** Notes one use of a feature, by its name in the data of caniemail.com; names that the data does not have mean nothing. */
export type Note = (slug: string) => void

/** Longer selectors, rules and declarations are read up to here. */
const MAX_PIECE = 2000
const MAX_BLOCKS = 100

/** Properties whose name is not that of the feature. */
const PROPERTIES: Readonly<Record<string, string>> = {
  ...named('css-gap', 'column-gap', 'row-gap'),
  ...named('css-left-right-top-bottom', 'left', 'right', 'top', 'bottom'),
  ...named('css-block-inline-size', 'block-size'),
  ...named('css-column-layout-properties', 'columns', 'column-fill', 'column-rule', 'column-span', 'column-width'),
  ...named('css-border-radius', 'border-top-left-radius', 'border-top-right-radius'),
  ...named('css-border-radius', 'border-bottom-left-radius', 'border-bottom-right-radius'),
  ...named('css-overflow', 'overflow-x', 'overflow-y', 'overflow-block', 'overflow-inline'),
  ...named('css-margin-inline-block', 'margin-inline', 'margin-block'),
  ...named('css-margin-inline-start-end', 'margin-inline-start', 'margin-inline-end'),
  ...named('css-margin-block-start-end', 'margin-block-start', 'margin-block-end'),
  ...named('css-padding-inline-block', 'padding-inline', 'padding-block'),
  ...named('css-padding-inline-start-end', 'padding-inline-start', 'padding-inline-end'),
  ...named('css-padding-block-start-end', 'padding-block-start', 'padding-block-end'),
}
/** Families whose longhands are tested with the shorthand, except those that have a test of their own. */
const FAMILIES = 'margin padding border outline animation transition inset scroll-snap grid-template'.split(' ')
const OWN = new Set(['border-radius', 'border-collapse', 'border-spacing', 'border-image', 'outline-offset'])
/** Functions that are not tested as such. */
const FUNCTIONS: Readonly<Record<string, string>> = {
  calc: 'css-unit-calc',
  'linear-gradient': 'css-linear-gradient',
  'radial-gradient': 'css-radial-gradient',
  'conic-gradient': 'css-conic-gradient',
  rgb: 'css-rgb',
  rgba: 'css-rgba',
  var: 'css-variables',
  ...named('css-modern-color', 'lch', 'oklch', 'lab', 'oklab'),
}
const WORDS: Readonly<Record<string, string>> = {
  initial: 'css-unit-initial',
  important: 'css-important',
  ...named('css-intrinsic-size', 'fit-content', 'min-content', 'max-content'),
  ...named('css-sytem-ui', 'system-ui', 'ui-serif', 'ui-sans-serif', 'ui-rounded', 'ui-monospace'),
}
const MEDIA = ['hover', 'orientation', 'prefers-color-scheme', 'prefers-reduced-motion', 'device-pixel-ratio']
const NAME = /[a-z-]+\(?|[0-9.]+[a-z%]*/g
const PSEUDO = /::?([a-z-]+)/g
/** Parts of selectors by the sign that begins them. */
const SELECTORS = {
  ...{ '.': 'class', '#': 'id', '[': 'attribute', '*': 'universal', ',': 'grouping' },
  ...{ '>': 'child', '+': 'adjacent-sibling', '~': 'general-sibling' },
}

/**
 * Notes the features that a style sheet or the content of a style attribute uses. One pass over its characters; text that is not CSS notes nothing.
 */
export function noteCss(css: string, note: Note): void {
  let piece = ''
  let quote = ''
  /** For each open block, whether it holds declarations. */
  const blocks: boolean[] = []
  for (let at = 0; at < css.length; at++) {
    const sign = css.charAt(at)
    if (quote !== '') {
      if (sign === '\\') at++
      else if (sign === quote) quote = ''
      continue
    }
    if (sign === '/' && css[at + 1] === '*') {
      note('css-comments')
      const end = css.indexOf('*/', at + 2)
      at = end === -1 ? css.length : end + 1
    } else if (sign === '"' || sign === "'") quote = sign
    else if (sign === '{') {
      const isRule = !piece.trimStart().startsWith('@')
      if (isRule && blocks.at(-1) === true) note('css-nesting')
      if (piece.trim() !== '') notePrelude(piece.toLowerCase().trim(), note)
      if (blocks.length < MAX_BLOCKS) blocks.push(isRule || piece.includes('@font-face'))
      piece = ''
    } else if (sign === ';' || sign === '}') {
      notePiece(piece.toLowerCase().trim(), note)
      if (sign === '}') blocks.pop()
      piece = ''
    } else if (piece.length < MAX_PIECE) piece += sign
  }
  notePiece(piece.toLowerCase().trim(), note)
}

function notePiece(piece: string, note: Note): void {
  const colon = piece.indexOf(':')
  if (piece.startsWith('@')) noteAtRule(piece, note)
  else if (colon > 0) noteDeclaration(piece.slice(0, colon).trim(), piece.slice(colon + 1).trim(), note)
}

function notePrelude(prelude: string, note: Note): void {
  if (prelude.startsWith('@')) noteAtRule(prelude, note)
  else noteSelector(prelude, note)
}

function noteAtRule(rule: string, note: Note): void {
  const name = /^@(?:-webkit-)?([a-z-]+)/.exec(rule)?.[1]
  note(`css-at-${name}`)
  if (name !== 'media') return
  for (const feature of MEDIA)
    if (['', 'any-', '-webkit-'].some((prefix) => rule.includes(`(${prefix}${feature}`)))
      note(`css-at-media-${feature}`)
}

function noteDeclaration(property: string, value: string, note: Note): void {
  note(slugOf(property))
  if (property === 'display') note(`css-display-${value.split('!', 1)[0]?.trim().replace('inline-', '')}`)
  for (const [found] of value.matchAll(NAME)) {
    const name = found.slice(0, -1)
    if (found.endsWith('(')) note(Object.hasOwn(FUNCTIONS, name) ? (FUNCTIONS[name] as string) : `css-function-${name}`)
    else if (/^[0-9.]/.test(found)) note(`css-unit-${found.replace(/^[0-9.]+/, '').replace('%', 'percent')}`)
    else if (Object.hasOwn(WORDS, found)) note(WORDS[found] as string)
  }
}

function slugOf(property: string): string {
  if (property.startsWith('--')) return 'css-variables'
  if (Object.hasOwn(PROPERTIES, property)) return PROPERTIES[property] as string
  const family = OWN.has(property) ? undefined : FAMILIES.find((name) => property.startsWith(`${name}-`))
  return `css-${family ?? property}`
}

function noteSelector(selector: string, note: Note): void {
  for (const [sign, name] of Object.entries(SELECTORS)) if (selector.includes(sign)) note(`css-selector-${name}`)
  if (/^[a-z]/.test(selector)) note('css-selector-type')
  if (/[a-z0-9_\])] [a-z.#*[]/.test(selector)) note('css-selector-descendant')
  if (/[a-z0-9_-][.#][a-z]/.test(selector)) note('css-selector-chaining')
  for (const [, name] of selector.matchAll(PSEUDO)) {
    note(`css-pseudo-class-${name}`)
    note(`css-pseudo-element-${name}`)
  }
}

/** Names with the feature that all of them belong to. */
export function named(slug: string, ...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, slug]))
}
