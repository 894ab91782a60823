import {
  addressKey,
  addSubjectBeginning,
  addToSearch,
  type DeliveryState,
  type ListedDelivery,
  type MessageSearch,
  type Met,
  parseAddress,
  parseDomain,
  parseMessageId,
  parseSearch,
  readSearchTime,
  ServiceError,
  STATE_GROUPS,
} from '@postrider/core'
import { type Condition, parseQuery, wrong } from './parse-query.ts'

/** A query as a search, and the conditions on the deliveries that it finds. */
export interface ActivityQuestion {
  readonly search: MessageSearch
  readonly holds: (delivery: ListedDelivery) => boolean
}

export const STATUSES: Readonly<Record<string, readonly DeliveryState[]>> = {
  processed: STATE_GROUPS.waiting,
  delivered: ['delivered'],
  not_delivered: STATE_GROUPS.failed,
}

/** Names of events by which deliveries are found. */
const EVENTS: Readonly<Record<string, { readonly states: readonly DeliveryState[]; readonly met?: Met }>> = {
  delivered: { states: ['delivered'] },
  bounce: { states: ['bounced', 'expired'] },
  bounced: { states: ['bounced', 'expired'] },
  dropped: { states: ['dropped'] },
  deferred: { states: ['deferred'] },
  open: { states: [], met: 'opened' },
  opened: { states: [], met: 'opened' },
  click: { states: [], met: 'clicked' },
  clicked: { states: [], met: 'clicked' },
  spamreport: { states: [], met: 'complained' },
  spam_report: { states: [], met: 'complained' },
}

/** Fields of the language that are not searched here. */
const NOT_SEARCHED = [
  'template_id',
  'template_name',
  'campaign_name',
  'campaign_id',
  'marketing_campaign_id',
  'marketing_campaign_name',
  'api_key_id',
  'api_key_name',
  'originating_ip',
  'outbound_ip',
  'outbound_ip_type',
  'asm_group_id',
  'asm_group_name',
  'unique_args',
  'teammate',
  'clicks',
  'opens',
]

/** The time of the last outcome: of one that waits, the time of the accept. */
export function lastEventTime({ finishedAt, acceptedAt }: ListedDelivery): Date {
  return finishedAt ?? acceptedAt
}

/** Longer than any message waits, by default. */
const DAY_MS = 86_400_000
const MAX_WAIT_DAYS = 7

/** Throws V3Refusal for what the language cannot say here. */
export function questionOf(query: string): ActivityQuestion {
  const asked = new Question()
  for (const condition of parseQuery(query)) {
    const add = Object.hasOwn(FIELDS, condition.field) ? FIELDS[condition.field] : undefined
    if (!add) throw wrong(problemOf(condition.field))
    try {
      add(asked, condition)
    } catch (error) {
      // The search names its own keys, which the caller did not write.
      throw error instanceof ServiceError ? wrong(`${condition.field} ${error.values.problem}`) : error
    }
  }
  return asked.done()
}

function problemOf(field: string): string {
  const name = field.slice(0, 60)
  return NOT_SEARCHED.includes(name) ? `'${name}' cannot be searched for here` : `'${name}' is not a known field`
}

class Question {
  search: MessageSearch = {}
  readonly #checks: ((delivery: ListedDelivery) => boolean)[] = []

  /** Throws V3Refusal for a second condition of the kind. */
  add(field: string, more: MessageSearch): void {
    const { not = [], words = [], ...others } = more
    if (Object.keys(others).some((key) => this.search[key as keyof MessageSearch] !== undefined)) {
      throw wrong(`'${field}' has two conditions; one is possible here`)
    }
    const [allNot, allWords] = [
      [...(this.search.not ?? []), ...not],
      [...(this.search.words ?? []), ...words],
    ]
    this.search = {
      ...this.search,
      ...others,
      ...(allNot.length > 0 ? { not: allNot } : {}),
      ...(allWords.length > 0 ? { words: allWords } : {}),
    }
  }

  exclude(field: string, one: MessageSearch): void {
    this.add(field, { not: [one] })
  }

  hold(check: (delivery: ListedDelivery) => boolean): void {
    this.#checks.push(check)
  }

  done(): ActivityQuestion {
    return { search: this.search, holds: (delivery) => this.#checks.every((check) => check(delivery)) }
  }
}

type Add = (question: Question, condition: Condition) => void

const FIELDS: Readonly<Record<string, Add>> = {
  status: (question, { operator, values, field }) => {
    const states = only(operator, ['=', '!=', 'in', 'not in'], field) && values.flatMap((value) => statesOf(value))
    if (operator === '=' || operator === 'in') question.add(field, { states })
    else question.exclude(field, { states })
  },
  events: (question, { operator, values, field }) => {
    only(operator, ['=', 'contains', 'in'], field)
    const named = values.map((value) => {
      const found = Object.hasOwn(EVENTS, value.toLowerCase()) ? EVENTS[value.toLowerCase()] : undefined
      if (!found)
        throw wrong(`events '${value.slice(0, 60)}' cannot be searched for; use ${Object.keys(EVENTS).join(', ')}`)
      return found
    })
    const met = named.flatMap((one) => one.met ?? [])
    question.add(field, { states: named.flatMap(({ states }) => states), ...(met.length > 0 ? { met } : {}) })
  },
  to_email: (question, { operator, values: [value = ''], field }) => {
    only(operator, ['=', '!=', 'like', 'not like'], field)
    const domain = operator.endsWith('like') ? domainIn(value, field) : undefined
    const one = domain === undefined ? { recipientKey: keyOf(value, field) } : { recipientDomain: domain }
    if (operator === '=' || operator === 'like') question.add(field, one)
    else question.exclude(field, one)
  },
  from_email: (question, { operator, values: [value = ''], field }) => {
    only(operator, ['=', '!=', 'like', 'not like'], field)
    const domain = operator.endsWith('like') ? domainIn(value, field) : undefined
    const one = domain === undefined ? { from: keyOf(value, field) } : { domain }
    if (operator === '=' || operator === 'like') question.add(field, one)
    else question.exclude(field, one)
  },
  subject: (question, { operator, values: [value = ''], field }) => {
    only(operator, ['=', 'like'], field)
    if (operator === '=') {
      question.add(field, wholeWords('subject', value) ?? addSubjectBeginning({}, field, value))
      question.hold(({ subject }) => subject === value)
      return
    }
    const [, anywhere, text = '', open] = /^(%?)([^%]*)(%?)$/s.exec(value) ?? []
    if (text.trim() === '' || open !== '%') throw wrong(`${field} LIKE takes "%words%" or "beginning%"`)
    question.add(
      field,
      anywhere === '%' ? addToSearch({}, 'subject', `${text.trim()}*`) : addSubjectBeginning({}, field, text),
    )
  },
  categories: (question, { operator, values, field }) => {
    only(operator, ['=', 'contains', 'in'], field)
    const [value = '', ...others] = values
    if (others.length > 0) throw wrong(`'${field}' takes one value here`)
    question.add(field, wholeWords('tag', value) ?? addToSearch({}, 'tag', value))
    question.hold(({ tags }) => tags.includes(value))
  },
  msg_id: (question, { operator, values: [value = ''], field }) => {
    only(operator, ['=', 'like'], field)
    const { messageId, recipientNo } = readMsgId(operator === 'like' ? value.replace(/%$/, '') : value)
    question.add(field, { messageId: messageId ?? '' })
    if (recipientNo !== undefined) question.hold((delivery) => delivery.recipientNo === recipientNo)
  },
  last_event_time: (question, { operator, values, field }) => {
    only(operator, ['between', '>', '>=', '<', '<='], field)
    const times = values.map((value) => timeOf(value, field))
    const since = operator === 'between' || operator.startsWith('>') ? times[0] : undefined
    const until = operator === 'between' ? times[1] : operator.startsWith('<') ? times[0] : undefined
    if (since) {
      question.add(field, { since: new Date(Math.max(0, since.getTime() - MAX_WAIT_DAYS * DAY_MS)) })
      question.hold((delivery) => {
        const time = lastEventTime(delivery)
        return operator === '>' ? time > since : time >= since
      })
    }
    if (until) {
      question.add(field, { until: new Date(until.getTime() + 1) })
      question.hold((delivery) => {
        const time = lastEventTime(delivery)
        return operator === '<' ? time < until : time <= until
      })
    }
  },
}

/** A search for these words, whole; undefined if they cannot be written in its language. */
function wholeWords(key: 'subject' | 'tag', text: string): MessageSearch | undefined {
  return /[\p{L}\p{N}]/u.test(text) && !/[„“”«»\0]/.test(text)
    ? parseSearch(`${key}:"${text.replace(/["\\]/g, '\\$&')}"`)
    : undefined
}

function only(operator: string, allowed: readonly string[], field: string): true {
  if (allowed.includes(operator)) return true
  throw wrong(`'${field}' takes ${allowed.map((one) => one.toUpperCase()).join(', ')} here`)
}

function statesOf(value: string): readonly DeliveryState[] {
  const states = Object.hasOwn(STATUSES, value.toLowerCase()) ? STATUSES[value.toLowerCase()] : undefined
  if (!states) throw wrong(`status is ${Object.keys(STATUSES).join(', ')}`)
  return states
}

function keyOf(value: string, field: string): string {
  if (!parseAddress(value)) throw wrong(`'${field}' takes a whole address, or LIKE "%@domain"`)
  return addressKey(value)
}

function domainIn(value: string, field: string): string | undefined {
  if (!value.includes('%')) return undefined
  const domain = value.startsWith('%@') ? parseDomain(value.slice(2)) : undefined
  if (domain === undefined) throw wrong(`'${field}' takes a whole address, or LIKE "%@domain"`)
  return domain
}

function timeOf(value: string, field: string): Date {
  const time = readSearchTime(value, { now: new Date(0), timeZone: 'UTC' })
  if (!time || !/^\d{4}-/.test(value)) throw wrong(`${field} takes times such as "2026-01-31T12:00:00Z"`)
  return time
}

/** The X-Message-Id of mail/send, or the sg_message_id of an event, which names a recipient. */
export function readMsgId(value: string): { readonly messageId: string | undefined; readonly recipientNo?: number } {
  const [, id = value, number] = /^([^.]+)\.recvd-0\.(\d{1,6})$/.exec(value) ?? []
  return { messageId: parseMessageId(id), ...(number === undefined ? {} : { recipientNo: Number(number) }) }
}

export function writeMsgId(shortId: string, recipientNo: number): string {
  return `${shortId}.recvd-0.${recipientNo}`
}
