import type { Sql } from '../../platform/database/database.ts'
import { activateVersion } from './activate-version.ts'
import { addVersion } from './add-version.ts'
import { createTemplate } from './create-template.ts'
import { editTemplate } from './edit-template.ts'
import { type AnyTemplate, listAll } from './list-all.ts'
import { listTemplates } from './list-templates.ts'
import { removeTemplate } from './remove-template.ts'
import { isId } from './rules.ts'
import { listVersions, showTemplate, showVersion } from './show-template.ts'
import { selectTemplate } from './store.ts'
import type {
  NewTemplate,
  Template,
  TemplateAct,
  TemplateContent,
  TemplateSummary,
  TemplateVersion,
  VersionSummary,
} from './template.ts'
import { keepTestData, showTestData } from './test-data.ts'

export type { AnyTemplate } from './list-all.ts'
export type {
  NewTemplate,
  Template,
  TemplateAct,
  TemplateContent,
  TemplateSummary,
  TemplateVersion,
  VersionSummary,
} from './template.ts'
export { type TemplateVariable, VARIABLE_TYPES, type VariableType } from './variables.ts'

/** All functions throw templateIdInvalid for a template that the account does not have. */
export interface Templates {
  /**
   * Throws templateNameInvalid, templateBlank, templateTooLarge, templateNameTaken, templatesTooMany, templatesFull,
   * parameterInvalid (account, content, text, subject, variables).
   */
  create(template: NewTemplate): Promise<Template>
  /**
   * Changes the given fields. A different subject, content, text or list of variables creates a new version, which becomes
   * active immediately. Throws the same errors as create.
   */
  edit(act: TemplateAct, change: Partial<TemplateContent & { readonly name: string }>): Promise<Template>
  /** Deletes the template and its versions. Accepted messages keep their content, and the name can be reused. */
  remove(act: TemplateAct): Promise<void>
  /** Returns the account's template with this id for a send, or undefined. */
  find(accountId: number, id: number): Promise<Template | undefined>
  show(accountId: number, id: number): Promise<Template>
  /** Oldest first. */
  list(
    accountId: number,
    page: { limit: number; offset: number },
  ): Promise<{ templates: TemplateSummary[]; total: number }>
  /** Those of the v3 API among them: for people, who have one list. */
  all(accountId: number, page: { limit: number; offset: number }): Promise<{ templates: AnyTemplate[]; total: number }>
  /**
   * Adds a version without activating it. Omitted fields are copied from the active version. Throws the same errors as
   * create.
   */
  addVersion(act: TemplateAct, version: Partial<TemplateContent>): Promise<TemplateVersion>
  /** Makes this version the one that sends use. Throws templateVersionUnknown. */
  activate(act: TemplateAct, number: number): Promise<Template>
  /** Newest first; the newest 100 and the active version are kept. */
  versions(accountId: number, id: number): Promise<VersionSummary[]>
  /** Throws templateVersionUnknown. */
  version(accountId: number, id: number, number: number): Promise<TemplateVersion>
  /** Values for previews, as JSON; null if none were entered. */
  testData(accountId: number, id: number): Promise<string | null>
  /** Throws parameterInvalid (testData). */
  keepTestData(act: TemplateAct, json: string): Promise<void>
}

export function createTemplates(sql: Sql): Templates {
  return {
    create: (template) => createTemplate(sql, template),
    edit: (act, change) => editTemplate(sql, act, change),
    remove: (act) => removeTemplate(sql, act),
    find: async (accountId, id) => (isId(id) ? selectTemplate(sql, accountId, id) : undefined),
    show: (accountId, id) => showTemplate(sql, accountId, id),
    list: (accountId, page) => listTemplates(sql, accountId, page),
    all: (accountId, page) => listAll(sql, accountId, page),
    addVersion: (act, version) => addVersion(sql, act, version),
    activate: (act, number) => activateVersion(sql, act, number),
    versions: (accountId, id) => listVersions(sql, accountId, id),
    version: (accountId, id, number) => showVersion(sql, accountId, id, number),
    testData: (accountId, id) => showTestData(sql, accountId, id),
    keepTestData: (act, json) => keepTestData(sql, act, json),
  }
}
