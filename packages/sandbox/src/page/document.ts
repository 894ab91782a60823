import { AGO, type Assets, createIcons, type Html, html, htmlDocument, type Value } from '@postrider/ui'

export interface Document {
  readonly assets: Assets
  readonly publicUrl: string
  readonly title: string
  readonly at: 'inbox' | 'rejected'
  readonly body: Value
  readonly now: Date
}

/** The whole document of a page. */
export function inboxDocument({ assets, publicUrl, title, at, body, now }: Document): Html {
  const icon = createIcons(assets)
  const current = (name: Document['at']) => at === name && html` aria-current="page"`
  const logo = (place: string) =>
    html`<a class="brand ${place}" href="/" aria-label="Postrider, sandbox inbox"><img src="${assets.url('wordmark.svg')}" alt="" height="24" width="113"></a>`
  return htmlDocument({
    assets,
    language: 'en',
    title,
    body: html`<body class="app" data-now="${now.getTime()}" data-keys="on" data-as-of="As of" data-ago="${AGO.en}" data-paused="Paused, last seen" data-live="/live">
<a class="skip" href="#main">Skip to the content</a>
<header class="top">${logo('')}<span class="push row tight"><button class="btn plain icon" type="button" popovertarget="nav" aria-label="Menu">${icon('menu')}</button></span></header>
<nav class="side" id="nav" popover aria-label="Main">${logo('wide-only')}
<div><ul><li><a href="/"${current('inbox')} data-key="i">${icon('inbox')}Sandbox inbox</a></li><li><a href="/rejected"${current('rejected')} data-key="r">${icon('ban')}Rejected</a></li></ul></div>
<div class="push-end"><ul><li><a href="${publicUrl}/app">${icon('overview')}Dashboard</a></li><li><a href="${publicUrl}/docs">${icon('book')}Documentation</a></li></ul></div>
</nav>
<main class="sheet" id="main">
<div class="bar"><nav aria-label="Where you are" class="tight row"><ol class="crumbs"><li><b class="cut">${at === 'inbox' ? 'Sandbox inbox' : 'Rejected'}</b></li></ol></nav>
<span class="row tight push"><span class="mode">${icon('flask')}<span>Sandbox<span class="wide-only">: nothing leaves this machine</span></span></span><span class="live" hidden></span></span></div>
${body}
</main>
</body>`,
  })
}
