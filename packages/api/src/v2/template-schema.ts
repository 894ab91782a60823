import { type TemplateVariable, VARIABLE_TYPES } from '@postrider/core'
import Type, { type Static } from 'typebox'
import type { Route } from './operation.ts'
import { Flag, Text } from './send-email-schema.ts'
import { Id } from './shapes.ts'
import { flagOf } from './to-submission.ts'
import { decodeContent } from './url-decoding.ts'

const Given = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()])
const GivenVariable = Type.Object({
  name: Type.String(),
  type: Type.Optional(Type.Enum([...VARIABLE_TYPES], { description: 'string unless told' })),
  required: Type.Optional(Flag),
  default: Type.Optional(Given),
})

export const TemplateId = { templateId: Id }
export const Version = Type.Union([Type.Integer(), Type.String()], { description: 'number of the version' })
/** What has an error code of its own is optional here. */
export const Content = {
  content: Type.Optional(
    Type.Union([Type.String(), Type.Null()], { description: 'HTML, less than 10 MB; may come URL-encoded' }),
  ),
  subject: Type.Optional(
    Type.Union([Type.String(), Type.Null()], { description: 'for sends that bring none; empty: none' }),
  ),
  variables: Type.Optional(
    Type.Union([Type.Array(GivenVariable), Type.Null()], { description: 'merge attributes a send must or may have' }),
  ),
}
export const NamedContent = { templateName: Type.Optional(Text), ...Content }

export const Variable = Type.Object({
  name: Type.String(),
  type: Type.Enum([...VARIABLE_TYPES]),
  required: Type.Boolean(),
  default: Type.Union([Type.String(), Type.Null()]),
})

interface GivenContent {
  readonly content?: string | null
  readonly subject?: string | null
  readonly variables?: readonly Static<typeof GivenVariable>[] | null
}

/** What was given of a version, in core's words; null is "not given" (as in sendEmail), an empty subject is none. */
export function contentOf({ content, subject, variables }: GivenContent) {
  return {
    ...(content == null ? {} : { content: decodeContent(content) }),
    ...(subject == null ? {} : { subject: subject.trim() === '' ? null : subject }),
    ...(variables == null ? {} : { variables: variables.map(variableOf) }),
  }
}

function variableOf({ name, type, required, default: value }: Static<typeof GivenVariable>): TemplateVariable {
  return {
    ...{ name, type: type ?? 'string', required: flagOf(required) ?? false },
    default: value == null || value === '' ? null : String(value),
  }
}

/** A path under /template, which is also known as /templates (contract section 7). */
export function under(path: string, ...methods: Route[1][]): Route[] {
  return [
    [`/template${path}`, ...methods],
    [`/templates${path}`, ...methods],
  ] as Route[]
}
