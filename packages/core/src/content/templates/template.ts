import type { TemplateVariable } from './variables.ts'

/** What a version of a template holds. */
export interface TemplateContent {
  /** Null: every send brings its own. */
  readonly subject: string | null
  /** HTML; replaces the submission's own content. */
  readonly content: string
  readonly variables: readonly TemplateVariable[]
}

/** Stored content a submission names by id, as its active version has it. */
export interface Template extends TemplateContent {
  readonly id: number
  readonly accountId: number
  readonly name: string
  /** The number of the active version. */
  readonly version: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

export type TemplateSummary = Omit<Template, 'content' | 'variables'>

/** A dated, numbered edition of a template; it never changes. */
export interface TemplateVersion extends TemplateContent {
  readonly number: number
  readonly active: boolean
  readonly createdAt: Date
}

export interface VersionSummary extends Omit<TemplateVersion, 'content' | 'variables'> {
  /** Octets of the content. */
  readonly size: number
}
