import type { DomainWithRecords } from '@postrider/core'
import { html, inputField, type Language } from '@postrider/ui'
import { type Answer, file, page, redirect } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import { type AccountCall, field } from '../../frame/call.ts'
import { offsetOf, pager } from '../../frame/pager.ts'
import { byApi, emptyBox, pageHead, problemNote } from '../../frame/parts.ts'
import { account, type DashboardRoute } from '../../frame/routes.ts'
import { frameWords } from '../../frame/words/frame-words.ts'
import { domainPage } from './domain-page.ts'
import { domainState } from './domain-state.ts'
import { domainsWords } from './domains-words.ts'
import { zoneFile } from './zone-file.ts'

export const DOMAINS: readonly DashboardRoute[] = [
  account('GET', '/domains', 'domains.see', domainList),
  account('GET', '/domains/new', 'domains', async (call) => domainForm(call)),
  account('POST', '/domains', 'domains', addDomain),
  account('GET', '/domains/:domain', 'domains.see', showDomain),
  account('GET', '/domains/:domain/zone', 'domains.see', async (call) => {
    const domain = await call.core.domains.show(call.params.domain as string, call.account.id)
    return file({
      type: 'text/plain; charset=utf-8',
      body: zoneFile(domain),
      headers: { 'content-disposition': `attachment; filename="${domain.name}.zone"` },
    })
  }),
  account('POST', '/domains/:domain/check', 'domains', ({ core, account: own, params, by, path }) =>
    core.domains
      .verify(own.id, params.domain as string, by)
      .then(({ name }) => redirect(path(`domains/${name}`), 'checked')),
  ),
  account('POST', '/domains/:domain/rotate', 'domains', ({ core, account: own, params, by, path }) =>
    core.domains
      .rotateDkim(own.id, params.domain as string, by)
      .then(({ name }) => redirect(path(`domains/${name}`), 'added')),
  ),
  account('POST', '/domains/:domain/ed25519', 'domains', async ({ core, account: own, params, form, by, path }) => {
    const ed25519 = field(form, 'ed25519') === 'on'
    const { name } = await core.domains.setEd25519(own.id, { name: params.domain as string, ed25519 }, by)
    return redirect(path(`domains/${name}`), 'saved')
  }),
  account('POST', '/domains/:domain/remove', 'domains', async ({ core, account: own, params, by, path }) => {
    await core.domains.remove(own.id, params.domain as string, by)
    return redirect(path('domains'), 'removed')
  }),
]

const PAGE = 50

async function domainList(call: AccountCall): Promise<Answer> {
  const { core, account: own, language, icon, path, query, format } = call
  const words = domainsWords(language)
  const offset = offsetOf(query, PAGE)
  const { domains, total } = await core.domains.page(own.id, { limit: PAGE, offset })
  const add =
    call.may('domains') && html`<a class="btn main" href="${path('domains/new')}">${icon('plus')}${words.add}</a>`
  return page({
    title: words.title,
    live: 'clock',
    body: html`${pageHead(words.title, words.lead, total > 0 && add)}${
      total === 0
        ? emptyBox(call, 'globe', words.none, words.noneText, add)
        : html`<section class="box"><div class="scroll" tabindex="0" role="region" aria-label="${words.title}"><table class="hov"><thead><tr><th>
          ${words.domain}</th><th>${words.state}</th><th class="wide-only">${words.records}</th><th class="n wide-only">${words.looked}</th></tr>
          </thead><tbody>${domains.map(
            (domain) =>
              html`<tr><td><a class="go" href="${path(`domains/${domain.name}`)}">${domain.name}</a></td><td>${domainState(call, domain)}</td>
                <td class="wide-only dim">${foundRecords(language, domain)}</td><td class="n wide-only faint">${
                  domain.checkedAt ? format.ago(domain.checkedAt) : words.never
                }</td></tr>`,
          )}</tbody></table></div>${pager(call, { at: 'domains', offset, limit: PAGE, total })}</section>`
    }
${byApi(call, { method: 'GET', path: '/v2/domains' }, { method: 'POST', path: '/v2/domain', body: { domain: 'ship.example' } })}`,
  })
}

/** Returns how many of the required records of a domain are right. */
export function foundRecords(language: Language, { dns }: DomainWithRecords): string {
  const required = dns.filter((record) => record.required)
  return domainsWords(language).right(required.filter(({ verified }) => verified).length, required.length)
}

function domainForm(call: AccountCall, problem?: string): Answer {
  const { form, language, path } = call
  const words = domainsWords(language)
  return page({
    title: words.add,
    status: problem === undefined ? 200 : 400,
    crumbs: [[words.title, path('domains')]],
    body: html`${pageHead(words.add, null)}${problemNote(call, problem)}<section class="box"><form class="pad stack" method="post" action="${path('domains')}">
${inputField({ name: 'domain', label: words.domain, value: field(form, 'domain'), hint: words.domainHint, required: true, autofocus: true, maxlength: 253 })}
${inputField({ name: 'envelope', label: words.envelope, value: field(form, 'envelope'), hint: words.envelopeHint, maxlength: 100 })}
<div class="row"><button class="btn main" type="submit">${words.add}</button><a class="btn" href="${path('domains')}">${frameWords(language).cancel}
  </a></div></form></section>`,
  })
}

async function addDomain(call: AccountCall): Promise<Answer> {
  const { core, account: own, form, by, path } = call
  const envelopeName = field(form, 'envelope')
  const name = field(form, 'domain')
  const added = await attempt(() =>
    core.domains.add({ accountId: own.id, name, by, ...(envelopeName === '' ? {} : { envelopeName }) }),
  )
  return added.ok ? redirect(path(`domains/${added.value.name}`), 'added') : domainForm(call, added.problem)
}

async function showDomain(call: AccountCall): Promise<Answer> {
  const domain = await call.core.domains.show(call.params.domain as string, call.account.id)
  const [requirements, nameServers] = await Promise.all([
    call.core.guard.requirements(domain.id),
    call.core.domains.nameServers(domain.id),
  ])
  return domainPage(call, domain, { requirements, nameServers })
}
