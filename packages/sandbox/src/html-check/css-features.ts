/** Notes one use of a feature, by its name in the data of caniemail.com. */
export type Note = (slug: string) => void

/** Longer selectors, rules and declarations are read up to here. */
const MAX_PIECE = 2000
const MAX_BLOCKS = 100

/** Properties whose name is not that of the feature. */
const PROPERTIES: Readonly<Record<string, string>> = {
  ...named('css-gap', 'gap', 'column-gap', 'row-gap'),
  ...named('css-left-right-top-bottom', 'left', 'right', 'top', 'bottom'),
  ...named('css-block-inline-size', 'block-size'),
  ...named('css-column-layout-properties', 'columns', 'column-fill', 'column-rule', 'column-span', 'column-width'),
  ...named('css-grid-template', 'grid-template-areas', 'grid-template-columns', 'grid-template-rows'),
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
/** Families whose longhands are tested with the shorthand. */
const FAMILIES = [
  'margin',
  'padding',
  'border',
  'outline',
  'animation',
  'transition',
  'inset',
  'scroll-snap',
  'mask-image',
]
const FUNCTIONS: Readonly<Record<string, string>> = {
  clamp: 'css-function-clamp',
  max: 'css-function-max',
  min: 'css-function-min',
  'light-dark': 'css-function-light-dark',
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
const VALUES: Readonly<Record<string, string>> = {
  'display:flex': 'css-display-flex',
  'display:inline-flex': 'css-display-flex',
  'display:grid': 'css-display-grid',
  'display:inline-grid': 'css-display-grid',
  'display:none': 'css-display-none',
  'flex-direction:column': 'css-flex-direction',
  'flex-wrap:wrap': 'css-flex-wrap',
}
const MEDIA: Readonly<Record<string, string>> = {
  hover: 'css-at-media-hover',
  'any-hover': 'css-at-media-hover',
  orientation: 'css-at-media-orientation',
  'prefers-color-scheme': 'css-at-media-prefers-color-scheme',
  'prefers-reduced-motion': 'css-at-media-prefers-reduced-motion',
  '-webkit-device-pixel-ratio': 'css-at-media-device-pixel-ratio',
}
const AT_RULES: Readonly<Record<string, string>> = {
  import: 'css-at-import',
  media: 'css-at-media',
  supports: 'css-at-supports',
  keyframes: 'css-at-keyframes',
  'font-face': 'css-at-font-face',
}
const NAME = /[a-z-]+\(?|[0-9.]+[a-z%]*/g
const PSEUDO = /::?([a-z-]+)/g
const PSEUDO_ELEMENTS = new Set(['after', 'before', 'first-letter', 'first-line', 'marker', 'placeholder'])
/** Parts of selectors by the sign that begins them. */
const SELECTORS = { '.': 'class', '#': 'id', '[': 'attribute', '*': 'universal', ',': 'grouping' } as const
const COMBINATORS = { '>': 'child', '+': 'adjacent-sibling', '~': 'general-sibling' } as const

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
  const name = (/^@(?:-webkit-)?([a-z-]+)/.exec(rule)?.[1] ?? '') as string
  if (Object.hasOwn(AT_RULES, name)) note(AT_RULES[name] as string)
  if (name !== 'media') return
  for (const [feature, slug] of Object.entries(MEDIA)) if (rule.includes(`(${feature}`)) note(slug)
}

function noteDeclaration(property: string, value: string, note: Note): void {
  const slug = slugOf(property)
  if (slug) note(slug)
  const whole = `${property}:${value.split('!', 1)[0]?.trim() ?? ''}`
  if (Object.hasOwn(VALUES, whole)) note(VALUES[whole] as string)
  for (const [found] of value.matchAll(NAME)) {
    if (found.endsWith('(')) noteOf(FUNCTIONS, found.slice(0, -1), note)
    else if (/^[0-9.]/.test(found)) note(unitSlug(found.replace(/^[0-9.]+/, '')))
    else noteOf(WORDS, found, note)
  }
}

function slugOf(property: string): string | undefined {
  if (property.startsWith('--')) return 'css-variables'
  if (Object.hasOwn(PROPERTIES, property)) return PROPERTIES[property]
  const family = FAMILIES.find((name) => property.startsWith(`${name}-`))
  const own = ['border-radius', 'border-collapse', 'border-spacing', 'border-image', 'outline-offset']
  if (family && !own.includes(property)) return `css-${family}`
  return /^[a-z-]+$/.test(property) ? `css-${property}` : undefined
}

function unitSlug(unit: string): string {
  return unit === '%' ? 'css-unit-percent' : `css-unit-${unit}`
}

function noteSelector(selector: string, note: Note): void {
  for (const [sign, name] of Object.entries(SELECTORS)) if (selector.includes(sign)) note(`css-selector-${name}`)
  for (const [sign, name] of Object.entries(COMBINATORS)) if (selector.includes(sign)) note(`css-selector-${name}`)
  if (/^[a-z]/.test(selector)) note('css-selector-type')
  if (/[a-z0-9_\])] [a-z.#*[]/.test(selector)) note('css-selector-descendant')
  if (/[a-z0-9_-][.#][a-z]/.test(selector)) note('css-selector-chaining')
  for (const [, name = ''] of selector.matchAll(PSEUDO))
    note(PSEUDO_ELEMENTS.has(name) ? `css-pseudo-element-${name}` : `css-pseudo-class-${name}`)
}

function noteOf(table: Readonly<Record<string, string>>, name: string, note: Note): void {
  if (Object.hasOwn(table, name)) note(table[name] as string)
}

function named(slug: string, ...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, slug]))
}
