import {
  type ApiKey,
  invalidParameter,
  type Restrictions,
  type RestrictionsChange,
  readIsoTime,
  UNRESTRICTED,
} from '@postrider/core'
import Type, { type Static, type TSchema } from 'typebox'
import { commaList } from '../comma-list.ts'

export const Id = Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 })
/** A list, or its entries separated by commas. */
export const Texts = (description: string) =>
  Type.Union([Type.Array(Type.String(), { maxItems: 100 }), Type.String()], { description })
const orNull = <T extends TSchema>(type: T) => Type.Optional(Type.Union([type, Type.Null()]))
/** Elsewhere unknown names are ignored; here a typo would leave a key with more permissions than intended. */
export const STRICT = { additionalProperties: false }
const Most = (description: string) => Type.Integer({ minimum: 1, description })

export const RestrictionsInput = Type.Object(
  {
    templates: orNull(Type.Array(Id, { maxItems: 100, description: 'only messages with one of these templates' })),
    sender_domains: orNull(Texts('only from these domains')),
    recipient_domains: orNull(Texts('only to these domains')),
    recipients_per_hour: orNull(Most('accepted recipients, including cc and bcc')),
    calls_per_minute: orNull(Most('API calls of any kind, and messages submitted by SMTP')),
    class: orNull(Type.String({ description: 'the class of all its mail: urgent, normal or bulk' })),
    keep_content: orNull(
      Type.Literal(false, { description: 'false: the content of its mail is removed after the last outcome' }),
    ),
    until: orNull(Type.String({ description: 'ISO 8601; time of expiry, after which the key gets error 101' })),
  },
  STRICT,
)

/** Restrictions as the API shows them: those that the key has. */
export const ShownRestrictions = Type.Object({
  templates: Type.Optional(Type.Array(Type.Integer())),
  sender_domains: Type.Optional(Type.Array(Type.String())),
  recipient_domains: Type.Optional(Type.Array(Type.String())),
  recipients_per_hour: Type.Optional(Type.Integer()),
  calls_per_minute: Type.Optional(Type.Integer()),
  class: Type.Optional(Type.String()),
  keep_content: Type.Optional(Type.Boolean()),
  until: Type.Optional(Type.String()),
})

/** Returns the change that the input describes; null removes all restrictions. Throws parameterInvalid. */
export function restrictionsOf(
  given: Static<typeof RestrictionsInput> | null | undefined,
): RestrictionsChange | undefined {
  if (given == null) return given === null ? UNRESTRICTED : undefined
  const listed = (name: 'sender_domains' | 'recipient_domains') =>
    given[name] == null ? given[name] : commaList(`restrictions.${name}`, given[name])
  const change: { [Name in keyof Restrictions]: Restrictions[Name] | undefined } = {
    templates: given.templates,
    senderDomains: listed('sender_domains'),
    recipientDomains: listed('recipient_domains'),
    recipientsPerHour: given.recipients_per_hour,
    callsPerMinute: given.calls_per_minute,
    class: given.class as Restrictions['class'] | undefined,
    keepContent: given.keep_content,
    until: given.until == null ? given.until : timeOf(given.until),
  }
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
}

function timeOf(text: string): Date {
  const time = readIsoTime(text)
  if (time === undefined) throw invalidParameter('restrictions.until', 'must be an ISO 8601 time')
  return time
}

export function shownRestrictions({
  restrictions: own,
}: Pick<ApiKey, 'restrictions'>): Static<typeof ShownRestrictions> {
  return {
    ...(own.templates ? { templates: [...own.templates] } : {}),
    ...(own.senderDomains ? { sender_domains: [...own.senderDomains] } : {}),
    ...(own.recipientDomains ? { recipient_domains: [...own.recipientDomains] } : {}),
    ...(own.recipientsPerHour ? { recipients_per_hour: own.recipientsPerHour } : {}),
    ...(own.callsPerMinute ? { calls_per_minute: own.callsPerMinute } : {}),
    ...(own.class ? { class: own.class } : {}),
    ...(own.keepContent === false ? { keep_content: false } : {}),
    ...(own.until ? { until: own.until.toISOString() } : {}),
  }
}
