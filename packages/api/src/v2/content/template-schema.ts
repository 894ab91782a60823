import { type TemplateVariable, VARIABLE_TYPES } from '@postrider/core'
import Type, { type Static } from 'typebox'
import { decodeContent } from '../body/url-decoding.ts'
import { Flag, Text } from '../messages/send-email-schema.ts'
import { parseFlag } from '../messages/to-submission.ts'
import type { Route } from '../operation.ts'
import { Id } from '../shapes.ts'

const Given = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()])
const GivenVariable = Type.Object({
  name: Type.String(),
  type: Type.Optional(Type.Enum([...VARIABLE_TYPES], { description: 'default string' })),
  required: Type.Optional(Flag),
  default: Type.Optional(Given),
})

export const TemplateId = { templateId: Id }
export const Version = Type.Union([Type.Integer(), Type.String()], { description: 'version number' })
/** Parameters with an error code of their own are optional here. */
export const Content = {
  content: Type.Optional(
    Type.Union([Type.String(), Type.Null()], { description: 'HTML, less than 10 MB; may be URL-encoded' }),
  ),
  text: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description: 'plain text, less than 10 MB; may be URL-encoded; an empty text removes it',
    }),
  ),
  subject: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description: 'default subject of messages; an empty subject counts as missing',
    }),
  ),
  variables: Type.Optional(
    Type.Union([Type.Array(GivenVariable), Type.Null()], {
      description: 'required and optional merge attributes of a message',
    }),
  ),
}
export const PlainText = Type.Union([Type.String(), Type.Null()], {
  description: 'plain text; null if the version has none, so that it is generated if the account has it so',
})
export const NamedContent = { templateName: Type.Optional(Text), ...Content }

export const Variable = Type.Object({
  name: Type.String(),
  type: Type.Enum([...VARIABLE_TYPES]),
  required: Type.Boolean(),
  default: Type.Union([Type.String(), Type.Null()]),
})

interface GivenContent {
  readonly content?: string | null
  readonly text?: string | null
  readonly subject?: string | null
  readonly variables?: readonly Static<typeof GivenVariable>[] | null
}

/**
 * Returns the given parts of a version with core's names. Null counts as omitted, as in sendEmail, and an empty subject or text as
 * missing.
 */
export function contentOf({ content, text, subject, variables }: GivenContent) {
  return {
    ...(content == null ? {} : { content: decodeContent(content) }),
    ...(text == null ? {} : { text: text.trim() === '' ? null : decodeContent(text) }),
    ...(subject == null ? {} : { subject: subject.trim() === '' ? null : subject }),
    ...(variables == null ? {} : { variables: variables.map(variableOf) }),
  }
}

function variableOf({ name, type, required, default: value }: Static<typeof GivenVariable>): TemplateVariable {
  return {
    name,
    type: type ?? 'string',
    required: parseFlag(required) ?? false,
    default: value == null || value === '' ? null : String(value),
  }
}

/** Returns a path under /template with its alias under /templates (contract section 7). */
export function under(path: string, ...methods: Route[1][]): Route[] {
  return [
    [`/template${path}`, ...methods],
    [`/templates${path}`, ...methods],
  ] as Route[]
}
