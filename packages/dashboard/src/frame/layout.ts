import { buildText, type Config, programBuild } from '@postrider/core'
import {
  AGO,
  type Assets,
  foreign,
  type Html,
  html,
  htmlDocument,
  type IconName,
  type Language,
  NOTHING,
  type Tone,
  type Value,
} from '@postrider/ui'
import type { GateAnswer, PageAnswer } from './answer.ts'
import type { Undo } from './forms/undo.ts'
import { ACCOUNT_SECTIONS, inboxUrl, OPERATOR_ENTRIES } from './navigation.ts'
import { palette } from './palette.ts'
import type { Right } from './right.ts'
import { sentenceOf } from './said.ts'
import { mayIn, type VisitedAccount, type Visitor } from './visitor.ts'
import { frameWords } from './words/frame-words.ts'

/** Everything that the frame shows around a page. */
export interface Surroundings {
  readonly assets: Assets
  readonly config: Config
  readonly icon: (name: IconName, tone?: Tone) => Html
  readonly language: Language
  readonly theme: string
  readonly now: Date
  /** Milliseconds by which it is ahead of the world's time: 0 unless the clock of a sandbox was moved. */
  readonly ahead: number
  /** Path of the request, without its query. */
  readonly at: string
  /** Name of the sentence to say; see said.ts. */
  readonly said: string
  /** The form that takes back what the sentence says. */
  readonly undo?: Undo | undefined
  readonly visitor?: Visitor | undefined
  readonly account?: VisitedAccount | undefined
  /** The account whose navigation is shown: that of the page, or on pages of no account the one that the visitor saw last. */
  readonly home?: VisitedAccount | undefined
  /** Number of the account's last event when the page was built. */
  readonly lastEvent?: number | undefined
  /** As of when the page is that came from a standby; undefined if it is current. */
  readonly asOf?: Date | undefined
  readonly may: (right: Right) => boolean
}

/** The whole document of a page for a visitor. */
export function pageDocument(answer: PageAnswer, around: Surroundings): Html {
  const words = frameWords(around.language)
  const live = liveUrl(answer, around)
  return htmlDocument({
    ...around,
    title: answer.title,
    scripts: ['palette.js', ...(answer.scripts ?? [])],
    body: html`<body class="app" data-now="${around.now.getTime()}" data-keys="on" data-copied="${words.copied}" data-not-copied="${words.notCopied}"
      data-as-of="${words.asOf}" data-ago="${AGO[around.language]}" data-paused="${words.paused}" data-live="${live ?? ''}">
<a class="skip" href="#main">${words.skip}</a>
${topBar(around)}
${sidebar(around)}
<main class="sheet" id="main">
<div class="bar"><nav aria-label="${words.where}" class="tight row"><ol class="crumbs">${(answer.crumbs ?? []).map(
      ([text, path]) => html`<li><a href="${path}">${text}</a></li>`,
    )}<li><b class="cut">${foreign(answer.crumb ?? answer.title)}</b></li></ol></nav>
<span class="row tight push">${asOfNote(around)}${live && html`<span class="live" hidden></span>`}${modeMark(around)}</span></div>
<div class="page" id="page">${lookNote(around)}${answer.body}</div>
</main>
${saidToast(around)}${palette(around)}${keysHelp(around)}
</body>`,
  })
}

/** In seconds of UTC, as the times of events in files. */
function asOfNote({ asOf, language }: Surroundings): Value {
  if (asOf === undefined) return null
  const text = asOf.toISOString()
  return html`<small>${frameWords(language).standbyAsOf} <time datetime="${text}">${text.slice(11, 19)} UTC</time></small>`
}

/** Says on each page of the account that an operator looks at it, and lets them end it. */
function lookNote({ account, icon, language }: Surroundings): Value {
  if (account?.role !== 'observer') return null
  const words = frameWords(language)
  return html`<div class="note wait" role="note">${icon('eye', 'wait')}<div><b>${words.looking(account.name)}</b><p>${words.lookingText}</p></div>
    <form method="post" action="/app/operator/look-away"><button class="btn s" type="submit">${words.lookAway}</button></form></div>`
}

/** The whole document of a page for visitors who are not logged in. */
export function gateDocument(answer: GateAnswer, around: Surroundings): Html {
  const words = frameWords(around.language)
  return htmlDocument({
    ...around,
    title: answer.title,
    scripts: answer.scripts ?? [],
    body: html`<body class="gate" data-now="${around.now.getTime()}" data-copied="${words.copied}" data-not-copied="${words.notCopied}">
<main id="page" class="${answer.wide ? 'wide' : ''}"><a class="brand" href="/app">
  <img src="${around.assets.url('wordmark.svg')}" alt="Postrider" height="28" width="131"></a>
${answer.body}</main>${saidToast(around)}
</body>`,
  })
}

function liveUrl(answer: PageAnswer, { account, lastEvent = 0 }: Surroundings): string | undefined {
  if (answer.live === undefined) return undefined
  if (answer.live === 'clock') return '/app/live'
  return account && `/app/${account.id}/live?after=${lastEvent}${answer.live === 'both' ? '&clock=1' : ''}`
}

function topBar({ assets, icon, language, home }: Surroundings): Html {
  const words = frameWords(language)
  return html`<header class="top"><a class="brand" href="/app" aria-label="Postrider">
    <img src="${assets.url('wordmark.svg')}" alt="" height="24" width="113"></a><span class="push row tight">${
      home &&
      mayIn(home, 'events') &&
      html`<a class="btn plain icon" href="/app/${home.id}/messages" aria-label="${words.search}">${icon('search')}</a>`
    }<button class="btn plain icon" type="button" popovertarget="nav" aria-label="${words.menu}">${icon('menu')}</button></span></header>`
}

function sidebar(around: Surroundings): Html {
  const { assets, icon, language, visitor } = around
  const words = frameWords(language)
  return html`<nav class="side" id="nav" popover aria-label="${words.nav}">
<div class="stack s"><a class="brand wide-only" href="/app" aria-label="Postrider"><img src="${assets.url('wordmark.svg')}" alt="" height="24" width="113"></a>
${accountSwitcher(around)}
<button class="btn jump" type="button" data-opens="palette" title="${words.jump}">${icon('search')}${words.find}
  <kbd class="wide-only">${words.jumpKeys}</kbd></button></div>
<div class="mid">${accountLinks(around)}
${visitor?.user.operator && operatorLinks(around)}</div>
<div>${visitor && visitorMenu(around, visitor)}${visitor && version()}</div>
</nav>`
}

function accountSwitcher({ home: account, visitor, language, icon }: Surroundings): Value {
  if (!account) return ownAccounts(visitor, icon)
  const words = frameWords(language)
  const others = visitor?.accounts.filter(({ id }) => id !== account.id) ?? []
  const shown = html`<span class="face" aria-hidden="true">${initials(account.name)}</span><span><b class="cut">${account.name}</b><small>
    ${words.accountNumber(account.id, words.roles[account.role])}</small></span>`
  if (others.length === 0) return html`<div class="who still">${shown}</div>`
  return html`<button class="who" type="button" popovertarget="accounts" title="${words.switchAccount}">${shown}${icon('updown')}</button>
<div class="menu" id="accounts" popover><div class="stack xs">${others
    .slice(0, 50)
    .map(
      ({ id, name }) => html`<a class="btn plain" href="/app/${id}">${name}</a>`,
    )}<a class="btn plain" href="/app/accounts">${words.switchAccount}</a></div></div>`
}

function version(): Html {
  return html`<small class="faint" title="${buildText()}">Postrider ${programBuild().version}</small>`
}

/** The way back from a page of no account. */
function ownAccounts(visitor: Visitor | undefined, icon: Surroundings['icon']): Value {
  const accounts = visitor?.accounts.slice(0, 10) ?? []
  return (
    accounts.length > 0 &&
    html`<ul>${accounts.map(({ id, name }) => html`<li><a href="/app/${id}">${icon('left')}<span class="cut">${name}</span></a></li>`)}</ul>`
  )
}

function accountLinks({ home: account, at, config, icon, language }: Surroundings): Value {
  if (!account) return null
  const words = frameWords(language)
  const base = `/app/${account.id}`
  const inbox = inboxUrl(config)
  return ACCOUNT_SECTIONS.map(({ title, entries }) => {
    const seen = entries.filter(({ right, isLinked }) => !isLinked && (right === null || mayIn(account, right)))
    if (seen.length === 0) return null
    const links = seen.map(({ name, icon: sign, path, key }) => {
      const target = path === '' ? base : `${base}/${path}`
      return html`<li><a href="${target}"${current(at, target, path === '')} data-key="${key ?? ''}">${icon(sign)}${words[name]}</a></li>`
    })
    const inboxLink =
      title === 'developers' && inbox && html`<li><a href="${inbox}">${icon('inbox')}${words.inbox}</a></li>`
    return html`<div>${title && html`<h2>${words[title]}</h2>`}<ul>${links}${inboxLink}</ul></div>`
  })
}

function operatorLinks({ at, icon, language }: Surroundings): Value {
  if (OPERATOR_ENTRIES.length === 0) return null
  const words = frameWords(language)
  return html`<div><h2>${words.operator}</h2><ul>${OPERATOR_ENTRIES.map(({ name, icon: sign, path }) => {
    const target = `/app/operator/${path}`
    return html`<li><a href="${target}"${current(at, target)}>${icon(sign)}${words[name]}</a></li>`
  })}</ul></div>`
}

function visitorMenu({ icon, language }: Surroundings, { user }: Visitor): Html {
  const words = frameWords(language)
  return html`<ul><li><a href="/docs">${icon('book')}${words.documentation}</a></li></ul>
<button class="who" type="button" popovertarget="you" title="${words.yourMenu}"><span class="face round" aria-hidden="true">${initials(user.name)}
  </span><span><b class="cut">${user.name}</b></span>${icon('more')}</button>
<div class="menu" id="you" popover><div class="stack xs"><a class="btn plain" href="/app/security">${icon('lock')}${words.security}</a>
<form method="post" action="/app/logout"><button class="btn plain" type="submit">${icon('exit')}${words.logOut}</button></form></div></div>`
}

function modeMark({ config, icon, language, ahead, visitor }: Surroundings): Value {
  if (config.delivery.kind !== 'sandbox') return null
  const words = frameWords(language)
  const isMoved = Math.abs(ahead) >= MOVED_MS
  const text = isMoved ? words.clockMoved(spanOf(Math.abs(ahead), language), ahead > 0) : words.sandboxMode
  if (isMoved && visitor?.user.operator)
    return html`<a class="mode" href="/app/operator/processes#clock">${icon('clock')}${text}</a>`
  return html`<span class="${isMoved ? 'mode' : 'mode wide-only'}">${icon(isMoved ? 'clock' : 'flask')}${text}</span>`
}

const [MOVED_MS, HOUR_MS, DAY_MS] = [60_000, 3_600_000, 86_400_000]

function spanOf(milliseconds: number, language: Language): string {
  const [unit, size] =
    milliseconds < 2 * HOUR_MS
      ? (['minute', MOVED_MS] as const)
      : milliseconds < 2 * DAY_MS
        ? (['hour', HOUR_MS] as const)
        : (['day', DAY_MS] as const)
  return new Intl.NumberFormat(language, { style: 'unit', unit }).format(Math.round(milliseconds / size))
}

function saidToast({ language, said, undo }: Surroundings): Html | undefined {
  const sentence = said === '' ? undefined : sentenceOf(language, said)
  if (sentence === undefined) return undefined
  const form =
    undo &&
    html`<form method="post" action="${undo.action}">${Object.entries(undo.fields).map(
      ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
    )}<button class="btn s" type="submit">${frameWords(language).undo}</button></form>`
  return html`<div class="toast" role="status" data-fades="${undo ? 10_000 : 6000}">${sentence}${form}</div>`
}

function keysHelp({ language, home }: Surroundings): Html {
  const words = frameWords(language)
  const goes = home
    ? ACCOUNT_SECTIONS.flatMap(({ entries }) => entries).filter(
        ({ key, right }) => key && (right === null || mayIn(home, right)),
      )
    : []
  return html`<button type="button" hidden data-opens="keys-help">?</button><dialog id="keys-help" aria-labelledby="keys-title"><h2 id="keys-title">
    ${words.keysHelp}</h2>
<dl class="dl">${goes.map(({ name, key }) => html`<dt><kbd>g</kbd> <kbd>${key}</kbd></dt><dd>${words.keyGo(words[name])}</dd>`)}<dt><kbd>/</kbd></dt>
  <dd>${words.keySearch}</dd><dt><kbd>${words.jumpKeys}</kbd></dt><dd>${words.jump}</dd><dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>${words.keyNext}</dd>
  <dt><kbd>?</kbd></dt><dd>${words.keyHelp}</dd></dl>
<div class="row push-end"><button class="btn" type="button" data-closes>${words.close}</button></div></dialog>`
}

function current(at: string, target: string, exactly = false): Html {
  const is = exactly ? at === target : at === target || at.startsWith(`${target}/`)
  return is ? html` aria-current="page"` : NOTHING
}

/** The first letters of the first two words. */
function initials(name: string): string {
  const words = name.split(' ', 10).filter((word) => word !== '')
  return words
    .slice(0, 2)
    .map((word) => [...word][0]?.toUpperCase() ?? '')
    .join('')
}
