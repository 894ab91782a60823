import type { Actor } from '../../accounts/audit/index.ts'

export const GENERATIONS = ['legacy', 'dynamic'] as const
export type Generation = (typeof GENERATIONS)[number]

export const EDITORS = ['code', 'design'] as const
export type Editor = (typeof EDITORS)[number]

/** A stored template whose named versions are edited in place; one of them is what sends read. */
export interface EditableTemplate {
  /** A UUID; of a dynamic one `d-` and its 32 digits. */
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
  /** The plain text is made from the HTML whenever that changes. */
  readonly generatePlain: boolean
  readonly editor: Editor
  readonly updatedAt: Date
}

export interface EditableVersion extends EditableVersionSummary {
  readonly html: string
  readonly plain: string
  /** JSON, for previews. */
  readonly testData: string | null
}

/** The version that a send reads. */
export interface ActiveVersion extends EditableVersion {
  readonly generation: Generation
  readonly templateName: string
}

/** A version as it is given: what is left out is empty in a new one, and stays as it is in one that is edited. */
export interface VersionChange {
  readonly name?: string | undefined
  readonly subject?: string | undefined
  readonly html?: string | undefined
  readonly plain?: string | undefined
  readonly generatePlain?: boolean | undefined
  readonly editor?: Editor | undefined
  readonly testData?: string | undefined
  /** False leaves the one active that is. */
  readonly active?: boolean | undefined
  /** As another installation had it: the plain text stays what is given, and a first version is active only if that is said. */
  readonly asIs?: boolean | undefined
}

export interface NewVersion extends VersionChange {
  readonly name: string
  readonly subject: string
}

/** A template of an account, and who changes it: the operator, when left out. */
export interface EditableAct {
  readonly accountId: number
  readonly id: string
  readonly by?: Actor | undefined
}

export interface VersionAct extends EditableAct {
  readonly versionId: string
}
