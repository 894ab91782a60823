import { ERRORS, type ErrorName } from '@postrider/core'
import { OPERATIONS as OPERATOR } from '../operator/operations.ts'
import { success } from '../v2/envelope.ts'
import type { Operation as V2Operation } from '../v2/operation.ts'
import { OPERATIONS as V2 } from '../v2/operations.ts'
import type { Operation as V3Operation } from '../v3/operation.ts'
import { OPERATIONS as V3 } from '../v3/operations.ts'
import { recordedAnswers } from './answers.ts'
import { fieldText } from './field-texts.ts'
import { asSchema, type Field, fieldsOf, fieldsWithin, typeOf } from './fields.ts'
import { sampleOf } from './samples.ts'
import type { ExampleCall } from './snippets.ts'

export type ApiName = 'v2' | 'v3' | 'operator'

/** An operation of any of the APIs, as its page shows it. */
export interface Described {
  readonly api: ApiName
  readonly name: string
  readonly summary: string
  readonly group: string
  readonly method: string
  /** With the prefix of its API. */
  readonly path: string
  /** Other methods and paths of the same operation. */
  readonly aliases: readonly string[]
  /** Scope that the key must have; null if any key of the API will do. */
  readonly scope: string | null
  readonly inPath: readonly Field[]
  readonly inQuery: readonly Field[]
  readonly inBody: readonly Field[]
  /** Section of the contract that specifies it. */
  readonly section?: string
  readonly call: ExampleCall
  readonly answer: Answer
  readonly errors: readonly ErrorRow[]
}

export interface Answer {
  readonly status: number
  /** "object", "list of objects", or a media type; empty if the answer has no body. */
  readonly type: string
  readonly fields: readonly Field[]
  readonly example: string
}

export interface ErrorRow {
  readonly status: number
  readonly code: number
  readonly sentence: string
}

/** All operations of an API, grouped, in the order of its table. */
export function describedOperations(api: ApiName, publicUrl: string): readonly Described[] {
  if (api === 'v2') return V2.map((operation) => ofV2(operation, publicUrl))
  return api === 'v3' ? V3.map((operation) => ofV3(operation, publicUrl)) : operatorOperations(publicUrl)
}

/** The errors, one row for each code and sentence, by status. */
export function errorRows(names: readonly ErrorName[]): readonly ErrorRow[] {
  const rows = names.map((name) => ERRORS[name])
  const unique = new Map(rows.map(({ v2, status, sentence }) => [`${v2} ${sentence}`, { status, code: v2, sentence }]))
  return [...unique.values()].sort((a, b) => a.status - b.status || a.code - b.code)
}

const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))

function ofV2(operation: V2Operation, publicUrl: string): Described {
  const { name, summary, group, scope, routes, input, answer, envelope, errors, example, takes, gives } = operation
  const spellings = routes.flatMap(([path, ...methods]) => methods.map((method) => [String(method), path] as const))
  const [method, path] = spellings[0] as (typeof spellings)[number]
  const values = example.input as Readonly<Record<string, unknown>>
  const inPath = namesIn(path)
  const fields = fieldsOf(asSchema(input))
  const others = fields.filter((field) => !inPath.includes(field.name))
  const inQuery = method === 'GET' || takes !== undefined
  const rest = Object.fromEntries(Object.entries(values).filter(([key]) => !inPath.includes(key)))
  const whole = { ...(envelope?.bare ? { data: example.data } : success(example.data)), ...envelope?.example }
  return {
    api: 'v2',
    name,
    summary,
    group: V2_GROUPS[group] ?? group,
    method,
    path: `/v2${path}`,
    scope,
    aliases: spellings.slice(1).map(([other, at]) => `${other} /v2${at}`),
    inPath: fields.filter((field) => inPath.includes(field.name)),
    inQuery: inQuery ? others : [],
    inBody: inQuery ? [] : others,
    call: {
      method,
      url: `${publicUrl}${filled(`/v2${path}`, values)}${inQuery ? queryOf(rest) : ''}`,
      headers: [['api_key', 'YOUR_API_KEY']],
      ...(inQuery || Object.keys(rest).length === 0 ? {} : { json: rest }),
      ...(takes ? { file: ['list.csv', takes] as const } : {}),
    },
    answer: gives
      ? { status: 200, type: gives.join(' or '), fields: [], example: asText(example.data) }
      : {
          status: 200,
          type: typeOf(asSchema(answer)),
          fields: fieldsWithin(asSchema(answer)),
          example: asText(whole),
        },
    errors: errorRows(errors),
  }
}

function ofV3(operation: V3Operation, publicUrl: string): Described {
  const { name, summary, section, method, path, scope, params, query, body, status } = operation
  const values = (params ? sampleOf(asSchema(params)) : {}) as Readonly<Record<string, unknown>>
  const required = (query?.required ?? []) as readonly string[]
  // Some statistics are refused for as many days as there have been since.
  const needed = required.includes('start_date') ? [...required, 'end_date'] : required
  const asked = query
    ? (sampleOf({ ...asSchema(query), required: needed }, '', 3) as Readonly<Record<string, unknown>>)
    : {}
  const json = BODIES[name] ?? (body && sampleOf(asSchema(body)))
  return {
    api: 'v3',
    name,
    summary,
    section,
    method,
    path: `/v3${path}`,
    scope,
    aliases: [],
    errors: [],
    group: V3_GROUPS.find(([start]) => path.startsWith(start))?.[1] ?? 'Account',
    inPath: fieldsOf(asSchema(params)),
    inQuery: fieldsOf(asSchema(query)),
    inBody: body ? fieldsWithin(asSchema(body)) : [],
    call: {
      method,
      url: `${publicUrl}${filled(`/v3${path}`, values)}${queryOf(asked)}`,
      headers: [['authorization', 'Bearer YOUR_API_KEY']],
      ...(json === undefined ? {} : { json }),
    },
    answer: recordedAnswer('v3', name, status),
  }
}

function operatorOperations(publicUrl: string): readonly Described[] {
  return OPERATOR.map(({ name, summary, method, path, params, input }) => {
    const values = sampleOf(asSchema(params)) as Readonly<Record<string, unknown>>
    const fields = fieldsOf(asSchema(input))
    const json = BODIES[name] ?? (method === 'POST' && fields.length > 0 ? sampleOf(asSchema(input)) : undefined)
    return {
      api: 'operator',
      name,
      method,
      aliases: [],
      errors: [],
      scope: null,
      summary,
      group: path.startsWith('/queues') ? 'Queue' : /^\/(?:plans|jobs)/.test(path) ? 'Jobs' : 'Accounts',
      path: `/operator/v1${path}`,
      inPath: fieldsOf(asSchema(params)),
      inQuery: method === 'GET' ? fields : [],
      inBody: method === 'GET' ? [] : fields,
      call: {
        method,
        url: `${publicUrl}${filled(`/operator/v1${path}`, values)}`,
        headers: [['authorization', 'Bearer YOUR_OPERATOR_KEY']],
        ...(json === undefined ? {} : { json }),
      },
      answer: recordedAnswer('operator', name, 200),
    }
  })
}

/** Answers of operations that have no schema of theirs. This module is loaded with the first page. */
const ANSWERS = recordedAnswers()

function recordedAnswer(api: ApiName, name: string, status: number): Answer {
  const recorded = ANSWERS[api]?.[name]
  if (!recorded) return { status, type: '', fields: [], example: '' }
  const { schema, example } = recorded
  return {
    status,
    type: typeOf(schema),
    example: asText(example),
    fields: fieldsWithin(schema).map((field) => withText(api, name, field)),
  }
}

function withText(api: ApiName, operation: string, field: Field): Field {
  const description = fieldText(api, operation, field.name)
  return { ...field, description, fields: field.fields.map((one) => withText(api, operation, one)) }
}

function namesIn(path: string): readonly string[] {
  return path
    .split('/')
    .filter((part) => part.startsWith(':'))
    .map((part) => part.slice(1))
}

function filled(path: string, values: Readonly<Record<string, unknown>>): string {
  const parts = path.split('/')
  return parts
    .map((part) => (part.startsWith(':') ? encodeURIComponent(String(values[part.slice(1)] ?? part)) : part))
    .join('/')
}

function queryOf(values: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(values).map(([key, value]) => [key, asText(value)] as [string, string])
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`
}

const V2_GROUPS: Readonly<Partial<Record<V2Operation['group'], string>>> = {
  SendEmail: 'Send',
  Domain: 'Domains',
  Suppression: 'Suppressions',
  Template: 'Templates',
  Attachment: 'Attachments',
  Subaccount: 'Subaccounts',
  Credit: 'Credits',
  Key: 'API keys',
  GDPR: 'Privacy',
  Message: 'Messages',
  Stats: 'Statistics',
  Webhook: 'Webhooks',
  Audit: 'Audit log',
}

/** By the start of the path; the first row that fits counts. */
const V3_GROUPS: readonly (readonly [start: string, group: string])[] = [
  ['/mail/send', 'Send'],
  ['/mail/batch', 'Scheduled mail'],
  ['/user/scheduled_sends', 'Scheduled mail'],
  ['/templates', 'Templates'],
  ['/stats', 'Statistics'],
  ['/mailbox_providers', 'Statistics'],
  ['/categories', 'Categories'],
  ['/asm', 'Suppression groups'],
  ['/suppression', 'Suppressions'],
  ['/scopes', 'API keys'],
  ['/api_keys', 'API keys'],
  ['/user/webhooks', 'Webhooks'],
  ['/tracking_settings', 'Tracking settings'],
  ['/mail_settings', 'Mail settings'],
]

const EMAILS = { emails: ['lena@harbor.example'] }
const OFF = { enabled: false }
const EVENTS = { enabled: true, url: 'https://shop.example/hooks', delivered: true, bounce: true }

/** Bodies of calls whose schema says less than what they check: mail/send has none, and others have fields that exclude each other. */
const BODIES: Readonly<Record<string, unknown>> = {
  sendMail: {
    personalizations: [{ to: [{ email: 'lena@harbor.example' }] }],
    from: { email: 'desk@ship.example', name: 'Harbour desk' },
    subject: 'Your berth is ready',
    content: [{ type: 'text/plain', value: 'Berth 4 is yours until Friday.' }],
  },
  deleteBounces: EMAILS,
  deleteBlocks: EMAILS,
  deleteInvalidEmails: EMAILS,
  deleteSpamReports: EMAILS,
  createWebhook: EVENTS,
  editWebhook: EVENTS,
  editOldestWebhook: EVENTS,
  testWebhook: { url: EVENTS.url },
  changeGoogleAnalyticsTracking: OFF,
  changeAddressWhitelistSetting: OFF,
  changeBouncePurgeSetting: OFF,
  changeForwardBounceSetting: OFF,
  changeForwardSpamSetting: OFF,
  changeTemplateSetting: OFF,
  changeEnforcedTls: { require_tls: false, require_valid_cert: false },
  createPlan: { action: 'hold', place: 'google' },
  confirmPlan: { action: 'hold' },
}
