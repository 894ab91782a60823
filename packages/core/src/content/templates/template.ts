import type { Actor } from '../../accounts/audit/index.ts'
import type { TemplateVariable } from './variables.ts'

/** The content of a template version. */
export interface TemplateContent {
  /** Null if every send provides its own subject. */
  readonly subject: string | null
  /** HTML; replaces the submission's own content. */
  readonly content: string
  /** Plain text; null if there is none, so that it is generated if the account's setting says so. */
  readonly text: string | null
  readonly variables: readonly TemplateVariable[]
}

/** Stored content that a submission refers to by id, in its active version. */
export interface Template extends TemplateContent {
  readonly id: number
  readonly accountId: number
  readonly name: string
  /** The number of the active version. */
  readonly version: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

export type TemplateSummary = Omit<Template, 'content' | 'text' | 'variables'>

/** A numbered version of a template with a date; it never changes. */
export interface TemplateVersion extends TemplateContent {
  readonly number: number
  readonly active: boolean
  readonly createdAt: Date
}

export interface VersionSummary extends Omit<TemplateVersion, 'content' | 'text' | 'variables'> {
  /** Size of the content in bytes. */
  readonly size: number
}

/** A template of an account, and the author of the change. */
export interface TemplateAct {
  readonly accountId: number
  readonly id: number
  /** The operator if omitted. */
  readonly by?: Actor
}

export interface NewTemplate extends Partial<TemplateContent> {
  readonly accountId: number
  readonly name: string
  readonly content: string
  readonly by?: Actor
}
