import { createIcons, type Html, html, type Value } from '@postrider/ui'
import { EVERYWHERE } from '../openapi.ts'
import { HELP_PATH, helpSections, WRONG_TYPE } from '../v3/mail-send/help-page.ts'
import { languagesOf } from './example.ts'
import type { Field } from './fields.ts'
import { APIS, type DocsPage, type Frame } from './frame.ts'
import { convertGuide, excerptOf, type Guide } from './guides.ts'
import { sample } from './markdown.ts'
import { type ApiName, type Described, type ErrorRow, errorRows } from './reference.ts'
import type { Found } from './search.ts'
import { snippetsOf } from './snippets.ts'

const HOME = ['Documentation', '/docs'] as const

export function guidePage(guide: Guide, { guides }: Frame): DocsPage {
  const { body, headings } = convertGuide(guide, guides)
  const shown = headings.filter(({ depth }) => depth <= 3)
  return {
    path: `/docs/guides/${guide.name}`,
    title: guide.title,
    crumbs: [HOME],
    body: html`<div class="read-on"><article class="prose">${body}</article>${
      shown.length > 1 &&
      html`<nav class="toc" aria-label="On this page"><b>On this page</b><ul>${shown.map(
        ({ id, text, depth }) => html`<li class="in-${depth - 1}"><a href="#${id}">${text}</a></li>`,
      )}</ul></nav>`
    }</div>`,
  }
}

/** Where calls of an API are described as a whole. */
const INTRODUCTIONS: Readonly<Record<ApiName, readonly (readonly [text: string, guide: string])[]>> = {
  v2: [
    ['Sending', 'sending'],
    ['The wire contract', 'contract-v2'],
    ['API keys', 'keys'],
    ['Errors', 'errors'],
  ],
  v3: [
    ['Migration API', 'v3'],
    ['The wire contract', 'contract-v3'],
    ['Conformance', 'v3-conformance'],
  ],
  operator: [
    ['The operator’s HTTP interface', 'operator-api'],
    ['The queue', 'queue'],
  ],
}

/** The operations of an API, by group. */
export function apiPage(api: ApiName, { operations, guides }: Frame): DocsPage {
  const groups = Map.groupBy(operations[api], ({ group }) => group)
  const { title, subject } = APIS[api]
  const known = INTRODUCTIONS[api].filter(([, name]) => guides.some((guide) => guide.name === name))
  return {
    path: `/docs/${api}`,
    title,
    crumbs: [HOME],
    api,
    body: html`<div class="head"><div><h1>${title}</h1><p class="lead">${subject}.</p></div></div>
${
  known.length > 0 &&
  html`<ul class="row gap">${known.map(([text, name]) => html`<li><a href="/docs/guides/${name}">${text}</a></li>`)}
  ${api === 'v2' && html`<li><a href="/openapi.json">OpenAPI document</a></li>`}</ul>`
}
${[...groups].map(
  ([group, rows]) =>
    html`<section class="box"><header><h2>${group}</h2></header><ul class="calls">${rows.map(
      ({ name, method, path, summary }) =>
        html`<li><a href="/docs/${api}/${name}"><span class="call"><span class="kind">${method}</span><span>${path}</span></span><span>${summary}
          </span></a></li>`,
    )}</ul></section>`,
)}
${api === 'v2' && html`<section class="stack s"><h2 class="h2" id="errors">Errors of every call</h2>${errorTable(errorRows(EVERYWHERE))}</section>`}`,
  }
}

/** The part of a contract that an operation follows. */
export interface ContractSection {
  readonly id: string
  /** Without its number. */
  readonly title: string
}

export function operationPage(operation: Described, { guides }: Frame, section: ContractSection | undefined): DocsPage {
  const { api, name, summary, method, path, aliases, scope, inPath, inQuery, inBody, answer, errors } = operation
  const excerpt = excerptFor(operation, guides)
  const none = !excerpt && inPath.length + inQuery.length + inBody.length === 0
  return {
    path: `/docs/${api}/${name}`,
    title: name,
    crumbs: [HOME, [APIS[api].title, `/docs/${api}`]],
    api,
    body: html`<div class="head"><div><h1>${summary}</h1><p class="call"><b>${method}</b><span>${path}</span></p></div></div>
<div class="cols"><div class="w7 stack">
<dl class="dl">${keyRow(api, scope)}${
      aliases.length > 0 &&
      html`<dt>Also</dt><dd class="stack xs">${aliases.slice(0, 12).map((alias) => html`<code class="any">${alias}</code>`)}</dd>`
    }${section !== undefined && html`<dt>Contract</dt><dd><a href="/docs/guides/contract-${api}#${section.id}">${section.title}</a></dd>`}</dl>
${fieldSection('In the path', inPath)}${fieldSection('In the query', inQuery)}${excerpt ?? fieldSection('In the body', inBody)}
${none && html`<p class="dim">No parameters.</p>`}
${fieldSection(api === 'v2' ? 'Fields of data in the answer' : 'In the answer', answer.fields)}
${
  api === 'v2' &&
  html`<section class="stack s"><h2 class="h2">Errors</h2>${errors.length > 0 && errorTable(errors)}<p class="dim">
    ${errors.length > 0 ? 'In addition: ' : ''}<a href="/docs/v2#errors">errors of every call</a>.</p></section>`
}</div>
<div class="w5 stack"><div class="stack stay">${languagesOf(snippetsOf(operation.call), 'call')}${answerBox(operation)}</div></div></div>`,
  }
}

/** The tables of the contract for the two calls that send: they say more than the schemas, which tolerate much. */
const EXCERPTS: Readonly<Record<string, readonly string[]>> = { 'v2/sendEmail': ['4.1', '4.2'], 'v3/sendMail': ['2.1'] }

function excerptFor({ api, name, inBody }: Described, guides: readonly Guide[]): Html | undefined {
  const numbers = EXCERPTS[`${api}/${name}`]
  const contract = guides.find((guide) => guide.name === `contract-${api}`)
  if (!numbers || !contract) return undefined
  const text = excerptOf(contract, numbers)
  const { body } = convertGuide(text, guides)
  // The contract has what there was when it was written.
  const later = inBody.filter((field) => !text.text.includes(`\`${field.name}`))
  return html`<div class="prose">${body}</div><p class="dim">From <a href="/docs/guides/${contract.name}">${contract.title}</a>, which has the rest.</p>
${fieldSection('Also in the body', later)}`
}

function keyRow(api: ApiName, scope: string | null): Html {
  const words =
    api === 'operator'
      ? 'An operator key, from an address in OPERATOR_NETWORKS'
      : scope === null
        ? 'Any key of the account'
        : html`A key with the scope <code>${scope}</code>`
  return html`<dt>Needs</dt><dd>${words}</dd>`
}

function fieldSection(title: string, fields: readonly Field[]): Value {
  return fields.length > 0 && html`<section class="stack s"><h2 class="h2">${title}</h2>${fieldList(fields)}</section>`
}

function fieldList(fields: readonly Field[]): Html {
  return html`<ul class="params">${fields.map(
    ({ name, type, required, description, limits, values, fields: inner }) =>
      html`<li><span class="row"><b><code>${name}</code></b><span class="faint small">${type}</span>
        ${required && html`<span class="badge">required</span>`}</span>
${description !== '' && html`<p>${sentence(description)}</p>`}${limits.length > 0 && html`<p class="small">${sentence(limits.join(', '))}</p>`}
${values.length > 0 && html`<p class="small">One of ${values.slice(0, 60).map((value, at) => html`${at > 0 && ', '}<code>${value}</code>`)}</p>`}
${inner.length > 0 && html`<details><summary class="q">Fields of ${name}</summary>${fieldList(inner)}</details>`}</li>`,
  )}</ul>`
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}

function errorTable(rows: readonly ErrorRow[]): Html {
  return html`<div class="box scroll" role="group" aria-label="Errors" tabindex="0"><table><thead><tr><th scope="col">Status</th>
    <th scope="col">Code</th><th scope="col">Message</th></tr></thead><tbody>${rows.map(
      ({ status, code, sentence }) => html`<tr><td>${status}</td><td>${code}</td><td>${sentence}</td></tr>`,
    )}</tbody></table></div>`
}

function answerBox({ answer: { status, type, example } }: Described): Html {
  if (example === '') {
    return html`<p class="dim">The answer has the status ${status}${status === 204 ? ' and no body' : ''}.</p>`
  }
  return html`<section class="stack xs"><h2>Answer: ${status}, ${type}</h2>${sample('answer', example)}</section>`
}

/** Results of a search, or the form alone. */
export function searchPage({ assets }: Frame, query: string, found: Found): DocsPage {
  const { hits } = found
  const icon = createIcons(assets)
  return {
    path: '/docs/search',
    title: 'Search',
    crumbs: [HOME],
    query,
    body: html`<div class="head"><div><h1>Search</h1></div></div>
<form class="row" role="search" action="/docs/search"><span class="find seek">${icon('search')}
  <input class="in" id="q" type="search" name="q" value="${query}" maxlength="100" aria-label="Search the documentation" autocomplete="off"></span>
  <button class="btn main" type="submit">Search</button></form>
${query !== '' && html`<p class="dim" role="status">${resultText(hits.length, found)}</p>`}
<ul class="hits">${hits.map(
      ({ path, title, heading, snippet }) =>
        html`<li><a class="go" href="${path}">${title}${heading !== title && html`<span class="dim"> › ${heading}</span>`}</a><p class="dim">
          ${snippet.map(({ text, marked }) => (marked ? html`<mark>${text}</mark>` : text))}</p></li>`,
    )}</ul>`,
  }
}

function resultText(shown: number, { total, meant }: Found): string {
  if (total === 0) return 'No page contains all of these words. Try fewer or shorter ones.'
  const of = meant === undefined ? '' : ` for “${meant}”`
  return shown === total
    ? `${total} results${of}`
    : `${shown} of ${total} results${of}. Add a word to narrow them down.`
}

/** The target of the `help` links of errors: every rule of mail/send, with the anchors that the links name. */
export function helpPage(): DocsPage {
  const title = 'Errors of mail/send'
  return {
    path: HELP_PATH,
    title,
    crumbs: [HOME, [APIS.v3.title, '/docs/v3']],
    api: 'v3',
    body: html`<article class="prose"><h1>Errors of POST /v3/mail/send</h1>
<p>Each error has the path of the invalid field (indexes start at 0) and one of the messages below.
  An answer lists all errors found. Words in braces are replaced by values of the call. A field of the wrong JSON type has the message: ${WRONG_TYPE}</p>
${helpSections().map(
  ({ id, heading, sentences }) =>
    html`<section id="${id}"><h2>${heading}</h2><ul>${sentences.map((sentence) => html`<li>${sentence}</li>`)}</ul></section>`,
)}</article>`,
  }
}

export function missingPage(): DocsPage {
  return {
    path: '',
    title: 'Page not found',
    crumbs: [HOME],
    body: html`<div class="head"><div><h1>Page not found</h1>
      <p class="lead">No page of the documentation has this address. <a href="/docs/search">Search the documentation</a>,
        or start at the <a href="/docs">overview</a>.</p></div></div>`,
  }
}
