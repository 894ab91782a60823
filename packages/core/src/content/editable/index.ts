import type { Sql } from '../../platform/database/database.ts'
import type { DynamicRenderer } from '../engine/index.ts'
import { activateVersion } from './activate-version.ts'
import { addVersion } from './add-version.ts'
import { checked, problemOf } from './check-version.ts'
import { createTemplate } from './create-template.ts'
import { duplicateTemplate } from './duplicate-template.ts'
import { editVersion } from './edit-version.ts'
import type {
  ActiveVersion,
  EditableAct,
  EditableTemplate,
  EditableVersion,
  EditableVersionSummary,
  Generation,
  NewEditableTemplate,
  NewVersion,
  TemplateWithVersions,
  VersionAct,
  VersionChange,
  VersionTexts,
} from './editable-template.ts'
import { listTemplates } from './list-templates.ts'
import { type PreviewedVersion, previewVersion, type TemplatePreview } from './preview.ts'
import { removeTemplate } from './remove-template.ts'
import { removeVersion } from './remove-version.ts'
import { renameTemplate } from './rename-template.ts'
import { showTemplate, showVersion, summarizeTemplate } from './show-template.ts'
import { selectActive, type TemplatePlace } from './store.ts'
import { generationOf } from './template-id.ts'

export * from './editable-template.ts'
export type { TemplatePreview } from './preview.ts'
export { EDITABLE_LIMITS } from './rules.ts'
export { generationOf } from './template-id.ts'

/**
 * All functions throw templateIdInvalid for a template and templateVersionUnknown for a version that the account does
 * not have. For content that cannot be stored they throw parameterInvalid (name, subject, html, plain, testData) or
 * templateTooLarge; templatesFull for versions that the account has no space for.
 */
export interface EditableTemplates {
  /**
   * Names need not be unique. Throws templatesTooMany; parameterInvalid (id) if the id is in use or belongs to the
   * other generation.
   */
  create(template: NewEditableTemplate): Promise<EditableTemplate>
  /** Newest first; versions are listed without content. */
  list(page: TemplatePlace): Promise<{ templates: TemplateWithVersions<EditableVersionSummary>[]; total: number }>
  show(accountId: number, id: string): Promise<TemplateWithVersions>
  /** Returns the template and its versions without their content. */
  summary(accountId: number, id: string): Promise<TemplateWithVersions<EditableVersionSummary>>
  rename(act: EditableAct, name: string): Promise<TemplateWithVersions>
  /** Copies a template with all versions, including which one is active. Throws templatesTooMany. */
  duplicate(act: EditableAct, name: string): Promise<TemplateWithVersions>
  /** Deletes a template. Accepted messages keep their content. */
  remove(act: EditableAct): Promise<void>
  /**
   * Adds a version. The first version is always active, unless it is imported (asIs). Throws templateVersionsTooMany;
   * parameterInvalid (versionId) if the id is in use.
   */
  addVersion(act: EditableAct, version: NewVersion, versionId?: string): Promise<EditableVersion>
  /** Throws parameterInvalid (editor) if the change names another editor. */
  editVersion(act: VersionAct, change: VersionChange): Promise<EditableVersion>
  activate(act: VersionAct): Promise<EditableVersion>
  removeVersion(act: VersionAct): Promise<void>
  version(accountId: number, id: string, versionId: string): Promise<EditableVersion>
  /** See check-version.ts. Legacy templates have no problems. */
  problemOf(accountId: number, generation: Generation, texts: VersionTexts): Promise<string | null>
  /** Renders a version with its test data, in a thread. See preview.ts. */
  preview(accountId: number, generation: Generation, version: PreviewedVersion): Promise<TemplatePreview>
  /** Returns the active version for a send; undefined if the template does not exist or has no active version. */
  find(accountId: number, id: string): Promise<ActiveVersion | undefined>
}

export function createEditableTemplates(
  sql: Sql,
  renderer: Pick<DynamicRenderer, 'renderDynamic' | 'check'>,
): EditableTemplates {
  const toChecked = async ({ accountId }: EditableAct, stored: Promise<EditableVersion>): Promise<EditableVersion> =>
    checked({ sql, renderer, accountId }, await stored)
  return {
    create: (template) => createTemplate(sql, template),
    list: (page) => listTemplates(sql, page),
    show: (accountId, id) => showTemplate(sql, accountId, id),
    summary: (accountId, id) => summarizeTemplate(sql, accountId, id),
    rename: (act, name) => renameTemplate(sql, act, name),
    duplicate: (act, name) => duplicateTemplate(sql, act, name),
    remove: (act) => removeTemplate(sql, act),
    addVersion: (act, version, versionId) => toChecked(act, addVersion(sql, act, version, versionId)),
    editVersion: (act, change) => toChecked(act, editVersion(sql, act, change)),
    activate: (act) => toChecked(act, activateVersion(sql, act)),
    removeVersion: (act) => removeVersion(sql, act),
    version: (accountId, id, versionId) => showVersion(sql, accountId, id, versionId),
    problemOf: async (accountId, generation, texts) =>
      generation === 'dynamic' ? problemOf({ renderer, accountId }, texts) : null,
    preview: (accountId, generation, version) => previewVersion({ renderer, accountId }, generation, version),
    find: async (accountId, id) => (generationOf(id) ? selectActive(sql, accountId, id) : undefined),
  }
}
