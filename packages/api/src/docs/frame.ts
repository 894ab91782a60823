import { type Assets, createIcons, type Html, html, htmlDocument, type Value } from '@postrider/ui'
import type { Guide } from './guides.ts'
import type { ApiName, Described } from './reference.ts'

/** A page of the documentation, without its frame. */
export interface DocsPage {
  /** Its path, as the sidebar marks it. */
  readonly path: string
  readonly title: string
  /** The way to the page: texts and paths. */
  readonly crumbs: readonly (readonly [text: string, path: string])[]
  readonly body: Value
  /** Set on the pages of an API: its operations are in the sidebar. */
  readonly api?: ApiName
  /** The words searched for, on the page of results. */
  readonly query?: string
}

export const APIS: Readonly<Record<ApiName, { readonly title: string; readonly subject: string }>> = {
  v2: { title: 'v2 Web API', subject: 'Send mail; manage domains, templates, keys, webhooks, events and statistics' },
  v3: { title: 'Migration API (v3)', subject: 'For clients of SendGrid v3, with their own SDKs' },
  operator: { title: 'Operator API', subject: 'The queue, jobs and accounts, for those who run the service' },
}
export const API_NAMES = Object.keys(APIS) as ApiName[]

export interface Frame {
  readonly assets: Assets
  readonly guides: readonly Guide[]
  readonly operations: Readonly<Record<ApiName, readonly Described[]>>
}

/** The whole document of a page. */
export function docsDocument(frame: Frame, { path, title, crumbs, body, api, query = '' }: DocsPage): Html {
  const { assets } = frame
  const icon = createIcons(assets)
  const logo = (place: string) =>
    html`<a class="brand ${place}" href="/docs" aria-label="Postrider, documentation">
      <img src="${assets.url('wordmark.svg')}" alt="" height="24" width="113"></a>`
  return htmlDocument({
    assets,
    language: 'en',
    title,
    style: 'docs.css',
    still: true,
    scripts: ['docs.js'],
    body: html`<body class="app" data-keys="on" data-copied="Copied" data-not-copied="Your browser did not allow copying">
<a class="skip" href="#main">Skip to the content</a>
<header class="top">${logo('')}<span class="push row tight"><a class="btn plain icon" href="/docs/search" aria-label="Search">${icon('search')}</a>
  <button class="btn plain icon" type="button" popovertarget="nav" aria-label="Menu">${icon('menu')}</button></span></header>
<nav class="side" id="nav" popover aria-label="Documentation">${logo('wide-only')}
<div class="mid">${api ? apiLinks(frame, api, path) : guideLinks(frame, path)}</div>
<div><ul><li><a href="/app">${icon('overview')}Dashboard</a></li></ul></div>
</nav>
<main class="sheet" id="main">
<div class="bar"><nav aria-label="Where you are" class="tight row"><ol class="crumbs">${crumbs.map(
      ([text, target]) => html`<li><a href="${target}">${text}</a></li>`,
    )}<li><b class="cut">${title}</b></li></ol></nav>
${
  path !== '/docs/search' &&
  html`<form class="find" role="search" action="/docs/search">${icon('search')}
  <input class="in" id="q" type="search" name="q" value="${query}" maxlength="100" placeholder="Search"
    aria-label="Search the documentation" autocomplete="off">
  <kbd aria-hidden="true">/</kbd></form>`
}</div>
<div class="page" id="page">${body}</div>
</main>
</body>`,
  })
}

function entry(at: string, target: string, inner: Value): Html {
  return at === target
    ? html`<li><a href="${target}" aria-current="page">${inner}</a></li>`
    : html`<li><a href="${target}">${inner}</a></li>`
}

function guideLinks({ guides }: Frame, at: string): Html {
  const sections = Map.groupBy(guides, ({ section }) => section)
  return html`<div><ul>${entry(at, '/docs', 'Overview')}</ul></div>
<div><h2>API reference</h2><ul>${API_NAMES.map((name) => entry(at, `/docs/${name}`, APIS[name].title))}</ul></div>
${[...sections].map(
  ([section, rows]) =>
    html`<div><h2>${section}</h2><ul>${rows.map(({ name, title }) => entry(at, `/docs/guides/${name}`, html`<span>${title}</span>`))}</ul></div>`,
)}`
}

function apiLinks({ operations }: Frame, api: ApiName, at: string): Html {
  const groups = Map.groupBy(operations[api], ({ group }) => group)
  return html`<div><ul>${entry(at, '/docs', 'Documentation')}${entry(at, `/docs/${api}`, APIS[api].title)}</ul></div>
${[...groups].map(
  ([group, rows]) =>
    html`<div><h2>${group}</h2><ul>${rows.map(({ name, method }) =>
      entry(at, `/docs/${api}/${name}`, html`<span class="kind">${method}</span><span>${name}</span>`),
    )}</ul></div>`,
)}`
}
