import type { AssetName, Assets } from './assets.ts'
import type { Language } from './format.ts'
import { type Html, html } from './html.ts'
import { withoutInvisible } from './text.ts'

export interface DocumentOptions {
  readonly assets: Assets
  readonly language: Language
  /** "light" or "dark"; empty or omitted: as the system. */
  readonly theme?: string
  readonly title: string
  /** A style sheet after the common one. */
  readonly style?: AssetName
  /** The page never changes while it is open, and does without htmx. */
  readonly still?: boolean
  /** Scripts that this page needs besides those of every page. */
  readonly scripts?: readonly AssetName[]
  /** The body element. */
  readonly body: Html
}

/** `morphIgnore`: what a visitor has opened stays open when the page fetches itself again. The first name is htmx's own. */
const HTMX = '{"includeIndicatorCSS":false,"history":false,"morphIgnore":["data-htmx-powered","open"]}'

/** A whole document with the head that every page has. */
export function htmlDocument(options: DocumentOptions): Html {
  const { assets, language, theme = '', title, style, still, scripts = [], body } = options
  return html`<!doctype html>
<html lang="${language}" data-theme="${theme}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${!still && html`<meta name="htmx-config" content="${HTMX}">`}
<title>${withoutInvisible(title)} · Postrider</title>
<link rel="icon" href="${assets.url('mark.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${assets.url('postrider.css')}">
${style && html`<link rel="stylesheet" href="${assets.url(style)}">`}
${!still && html`<script defer src="${assets.url('htmx.js')}"></script>`}
<script defer src="${assets.url('page.js')}"></script>
${scripts.map((name) => html`<script defer src="${assets.url(name)}"></script>`)}
</head>
${body}
</html>
`
}
