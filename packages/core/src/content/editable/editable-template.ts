import type { Actor } from '../../accounts/audit/index.ts'

export const GENERATIONS = ['legacy', 'dynamic'] as const
export type Generation = (typeof GENERATIONS)[number]

export const EDITORS = ['code', 'design'] as const
export type Editor = (typeof EDITORS)[number]

/** A stored template whose named versions are edited in place. Sends use its active version. */
export interface EditableTemplate {
  /** A UUID; for dynamic templates `d-` and the 32 digits of a UUID. */
  readonly id: string
  readonly generation: Generation
  readonly name: string
  readonly updatedAt: Date
}

export interface EditableVersionSummary {
  /** UUID. */
  readonly id: string
  readonly templateId: string
  readonly active: boolean
  readonly name: string
  readonly subject: string
  /** Whether the plain text is generated again when the HTML changes. */
  readonly generatePlain: boolean
  readonly editor: Editor
  readonly updatedAt: Date
  /** Why no message can be built from it, a line for each of its texts; null if one can, or if it has not been checked. */
  readonly problem: string | null
}

export interface EditableVersion extends EditableVersionSummary {
  readonly html: string
  readonly plain: string
  /** JSON for previews. */
  readonly testData: string | null
}

export type VersionTexts = Pick<EditableVersion, 'subject' | 'html' | 'plain'>

/** The version that sends use, without test data, which is for previews. */
export interface ActiveVersion extends Omit<EditableVersion, 'testData'> {
  readonly generation: Generation
  readonly templateName: string
}

/** The content of a version. Omitted fields are empty in a new version and unchanged when a version is edited. */
export interface VersionChange {
  readonly name?: string | undefined
  readonly subject?: string | undefined
  readonly html?: string | undefined
  readonly plain?: string | undefined
  readonly generatePlain?: boolean | undefined
  readonly editor?: Editor | undefined
  readonly testData?: string | undefined
  /** False does not deactivate an active version. */
  readonly active?: boolean | undefined
  /**
   * Imported from another installation: the plain text is not generated, and the first version is active only if
   * requested.
   */
  readonly asIs?: boolean | undefined
}

export interface NewVersion extends VersionChange {
  readonly name: string
  readonly subject: string
}

/** A template of an account, and the author of the change; the operator if omitted. */
export interface EditableAct {
  readonly accountId: number
  readonly id: string
  readonly by?: Actor | undefined
}

export interface VersionAct extends EditableAct {
  readonly versionId: string
}

export interface TemplateWithVersions<Version = EditableVersion> extends EditableTemplate {
  /** The active version first, then from newest to oldest. */
  readonly versions: readonly Version[]
}

export interface NewEditableTemplate {
  readonly accountId: number
  readonly name: string
  readonly generation: Generation
  /** Id from another installation. If omitted, a new id is generated. */
  readonly id?: string | undefined
  readonly by?: Actor | undefined
}
