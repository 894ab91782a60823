import { AGO, type Assets, createIcons, type Html, html, htmlDocument, type Language, type Value } from '@postrider/ui'
import { pageWords } from './page-words.ts'

export interface Document {
  readonly assets: Assets
  readonly language: Language
  readonly publicUrl: string
  readonly title: string
  readonly at: 'inbox' | 'rejected'
  readonly body: Value
  readonly now: Date
  /** Whether the operator allows anything to leave the machine. */
  readonly isOpen: boolean
}

/** The whole document of a page. */
export function inboxDocument({ assets, language, publicUrl, title, at, body, now, isOpen }: Document): Html {
  const icon = createIcons(assets)
  const words = pageWords(language)
  const current = (name: Document['at']) => at === name && html` aria-current="page"`
  const logo = (place: string) =>
    html`<a class="brand ${place}" href="/" aria-label="${words.brand}"><img src="${assets.url('wordmark.svg')}" alt="" height="24" width="113"></a>`
  return htmlDocument({
    assets,
    language,
    title,
    body: html`<body class="app" data-now="${now.getTime()}" data-keys="on" data-as-of="${words.asOf}" data-ago="${AGO[language]}"
      data-paused="${words.paused}" data-live="/live">
<a class="skip" href="#main">${words.skip}</a>
<header class="top">${logo('')}<span class="push row tight">
  <button class="btn plain icon" type="button" popovertarget="nav" aria-label="${words.menu}">${icon('menu')}</button></span></header>
<nav class="side" id="nav" popover aria-label="${words.nav}">${logo('wide-only')}
<div><ul><li><a href="/"${current('inbox')} data-key="i">${icon('inbox')}${words.inbox}</a></li><li>
  <a href="/rejected"${current('rejected')} data-key="r">${icon('ban')}${words.rejected}</a></li></ul></div>
<div class="push-end"><ul><li><a href="${publicUrl}/app">${icon('overview')}${words.dashboard}</a></li><li><a href="${publicUrl}/docs">${icon('book')}
  ${words.documentation}</a></li></ul></div>
</nav>
<main class="sheet" id="main">
<div class="bar"><nav aria-label="${words.where}" class="tight row"><ol class="crumbs"><li><b class="cut">
  ${at === 'inbox' ? words.inbox : words.rejected}</b></li></ol></nav>
<span class="row tight push"><span class="mode">${icon('flask')}<span>Sandbox${
      !isOpen && html`<span class="wide-only">${words.nothingLeaves}</span>`
    }</span></span>
  <span class="live" hidden></span></span></div>
${body}
</main>
</body>`,
  })
}
