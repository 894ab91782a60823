import Type, { type Static } from 'typebox'

/**
 * Schema of POST /v2/sendEmail (contract sections 4 and 6), as lenient as real clients need: null counts as omitted, and flags
 * and ids may be numbers or text. Parameters with an error code of their own are optional here, so that 112, 114, 116 and 117
 * take precedence over 113.
 */
export const Text = Type.Union([Type.String(), Type.Null()])
export const Flag = Type.Union([
  Type.Boolean(),
  Type.Integer({ minimum: 0, maximum: 1 }),
  Type.Enum(['0', '1', 'true', 'false', '']),
  Type.Null(),
])
const Id = Type.Union([Type.Integer(), Type.String(), Type.Null()])
const Ids = Type.Union([
  Type.Integer(),
  Type.String(),
  Type.Array(Type.Union([Type.Integer(), Type.String()])),
  Type.Null(),
])
const Addresses = Type.Union([Type.String(), Type.Array(Type.String()), Type.Null()])
const Value = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()])
/** Merge attributes and extra headers. */
export const Values = Type.Union([
  // Not Type.Record: its name pattern ends at a line break, so values under names that contain one would not be validated.
  Type.Unsafe<Record<string, Static<typeof Value>>>(Type.Object({}, { additionalProperties: Value })),
  // PHP sends an empty map as an empty array.
  Type.Array(Type.Unknown(), { maxItems: 0 }),
  Type.Null(),
])
const Attachment = Type.Object({
  fileName: Type.Optional(Text),
  fileContent: Type.Optional(Text),
  // Extension: makes this an inline file, which the HTML shows by `cid:`.
  contentId: Type.Optional(Text),
})
const Attachments = Type.Union([Type.Array(Attachment), Type.Null()])

const Personalization = Type.Object({
  recipient: Type.Optional(Text),
  recipient_cc: Type.Optional(Addresses),
  recipient_bcc: Type.Optional(Addresses),
  'x-apiheader': Type.Optional(Id),
  'x-apiheader_cc': Type.Optional(Id),
  attributes: Type.Optional(Values),
  'x-headers': Type.Optional(Values),
  // Extension: names and values that come back in events.
  metadata: Type.Optional(Values),
  attachments: Type.Optional(Attachments),
})

const Settings = Type.Object({
  footer: Type.Optional(Flag),
  clicktrack: Type.Optional(Flag),
  opentrack: Type.Optional(Flag),
  unsubscribe: Type.Optional(Flag),
  // Extension: unsubscribe group of the message.
  group: Type.Optional(Type.Union([Type.Integer(), Type.String(), Type.Null()])),
  // Extensions: urgent, normal or bulk; seconds.
  class: Type.Optional(Text),
  deadline: Type.Optional(Type.Union([Type.Integer(), Type.String(), Type.Null()])),
  // Extension: required, verified or dane.
  tls: Type.Optional(Text),
  // Extension: false: the content is removed after the last outcome.
  keepContent: Type.Optional(Flag),
  bcc: Type.Optional(Text),
  attachmentid: Type.Optional(Ids),
})

export const SendEmail = Type.Object({
  personalizations: Type.Optional(Type.Array(Personalization)),
  from: Type.Optional(
    Type.Union([Type.Object({ fromEmail: Type.Optional(Text), fromName: Type.Optional(Text) }), Type.Null()]),
  ),
  subject: Type.Optional(Text),
  content: Type.Optional(Text),
  ampcontent: Type.Optional(Text),
  // Extension: plain text in addition to the HTML, or instead of it.
  textcontent: Type.Optional(Text),
  attachments: Type.Optional(Attachments),
  settings: Type.Optional(Type.Union([Settings, Type.Array(Type.Unknown(), { maxItems: 0 }), Type.Null()])),
  tags: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String()), Type.Null()])),
  replyToId: Type.Optional(Text),
  templateId: Type.Optional(Id),
  attachmentId: Type.Optional(Ids),
  attachmentid: Type.Optional(Ids),
  // Extension: as that of a personalization, for all of them.
  metadata: Type.Optional(
    Type.Union(Values.anyOf, {
      description: 'names and values of your own that come back in events; a personalization may have some, too',
    }),
  ),
  // Extension: earliest send time, in Unix seconds or ISO 8601.
  schedule: Type.Optional(Type.Union([Type.Integer(), Type.String(), Type.Null()])),
})

export type SendEmail = Static<typeof SendEmail>
export type Personalization = Static<typeof Personalization>
export type Attachment = Static<typeof Attachment>

export const SendEmailAnswer = Type.Object({ message_id: Type.String() })

export const CheckEmailAnswer = Type.Object({
  recipients: Type.Integer({ description: 'recipients it would have, cc and bcc included' }),
})
