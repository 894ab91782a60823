import type { Route } from './roles.ts'

type Form = Readonly<Record<string, string>>
export type Ids = Readonly<Record<string, string>>

/** A text in the name of everything of the account. */
export const MARK = 'northwind-secret'

/** The URL of the webhook among the ids: it is in no path. */
export const HOOK = 'url of the webhook'
/** The id of the plan to delete the account, likewise. */
export const DELETION = 'plan of the deletion'

const template = { subject: 'changed', html: '<p>changed</p>', testData: '{}', as: 'new' }
const hook = { url: 'https://changed.example/hook', events: 'sent' }
const entry = { scope: 'address', value: `${MARK}@harbor.example`, reason: 'manual' }

/** What each form is submitted with, so that it does its work; those that are not here have no fields that they need. */
const FORMS: Readonly<Record<string, Form | ((ids: Ids) => Form)>> = {
  '/messages/:message/reschedule': { schedule: new Date(Date.now() + 2 * 86_400_000).toISOString() },
  '/messages/:message/suppress': { recipient: '0' },
  '/messages/:message/unsuppress': { recipient: '0' },
  '/templates': { name: 'another' },
  '/templates/:id/versions': template,
  '/templates/:id/versions/:version': template,
  '/templates/:id/versions/:version/preview': template,
  '/templates/:id/versions/:version/check': template,
  '/domains': { domain: 'another.example' },
  '/suppressions': { entries: 'another@harbor.example' },
  '/suppressions/remove': entry,
  '/suppressions/restore': entry,
  '/exports': { from: '2026-01-01', to: '2026-01-02', events: 'sent', format: 'csv' },
  '/keys': { name: 'another', preset: 'send', scopes: 'send' },
  '/subaccounts': { username: 'another', email: 'another@harbor.example', credit: 'unlimited' },
  '/subaccounts/:name': { email: 'changed@harbor.example', credit: 'one_time_credit' },
  '/subaccounts/:name/credit': { action: 'increase', amount: '5' },
  '/team': { email: 'another@harbor.example', role: 'viewer' },
  '/team/:user/role': { role: 'viewer' },
  '/settings': { mailClass: 'normal', timeZone: 'UTC' },
  '/settings/name': { name: 'Another name' },
  '/privacy/erase': { emails: 'another@harbor.example' },
  '/privacy/export': { email: 'another@harbor.example' },
  '/webhooks': hook,
  '/webhooks/:id': (ids) => ({ url: ids[HOOK] as string, events: 'sent' }),
  '/webhooks/:id/replay': { from: '1' },
  '/operator/processes/clock': { speed: '1' },
  '/operator/queue/pause': { place: 'google', for: '24h', reason: 'asked' },
  '/operator/queue/resume': { place: 'google' },
  '/operator/queue/plans': { action: 'hold', all: 'on' },
  '/operator/queue/plans/:id/confirm': { action: 'hold' },
  '/operator/accounts': { name: 'another', owner: 'another@harbor.example' },
  '/operator/accounts/:id/hold': { reason: 'asked', class: 'bulk' },
  '/operator/accounts/:id/rules': { rules: 'standard' },
  '/operator/accounts/:id/rename': { name: 'renamed' },
  '/operator/accounts/:id/deletion': { days: '7' },
  '/operator/accounts/:id/deletion/confirm': (ids) => ({ plan: ids[DELETION] as string }),
  '/operator/accounts/:id/invite': { email: 'another@harbor.example' },
  '/operator/sources/check': { name: 'quay' },
  '/operator/sources/pause': { name: 'quay', reason: 'asked' },
  '/operator/sources/resume': { name: 'quay' },
  '/security/name': { name: 'Grace' },
  '/security/password': { password: 'another horse with letters' },
}

export function formOf({ path }: Route, ids: Ids): Form {
  const form = FORMS[path] ?? {}
  return typeof form === 'function' ? form(ids) : form
}

/** What takes away the things of the other forms comes after them. */
const LATE = /\/(?:remove|revoke|restore|cancel|erase|confirm)$/
const LAST = /^\/logout$|\/(?:restore|stop)$/
export const lateness = ({ path }: Route): number => Number(LATE.test(path)) + 2 * Number(LAST.test(path))

/** The pages that are for everybody. */
export const OPEN: readonly string[] = [
  'GET /login',
  'POST /login',
  'POST /login/code',
  'POST /login/code/passkey',
  'GET /login/passkey',
  'POST /login/passkey',
  'GET /oidc/begin',
  'GET /oidc',
  'GET /logout',
  'GET /preferences',
  'GET /first',
  'POST /first',
  'POST /preferences',
  'GET /invitation',
  'POST /invitation',
  'GET /sign-up',
  'POST /sign-up',
  'GET /verify',
  'POST /verify',
  'GET /forgotten',
  'POST /forgotten',
  'GET /reset',
  'POST /reset',
]

/** What needs more than a form to do its work, with the test in which it does. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  'GET /messages/:id': 'message-by-id.test.ts',
  'GET /operator/returns/:id': 'returns-about.test.ts',
  'POST /invitation/join': 'join.test.ts',
  'POST /security/codes/confirm': 'security.test.ts',
  'POST /security/codes/recovery': 'security.test.ts',
  'POST /security/codes/remove': 'security.test.ts',
  'POST /security/passkeys': 'passkeys.test.ts',
  'POST /security/passkeys/remove': 'passkeys.test.ts',
  'POST /security/sessions/:id/end': 'security.test.ts',
}
