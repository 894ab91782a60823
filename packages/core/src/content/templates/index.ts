import { createHash } from 'node:crypto'
import { type Actor, type AuditValues, noteChange, OPERATOR } from '../../accounts/audit/index.ts'
import {
  databaseErrorCode,
  isUniqueViolation,
  type Sql,
  type SqlTransaction,
} from '../../platform/database/database.ts'
import { invalidParameter, ServiceError } from '../../platform/errors.ts'
import { checkContent, cleanName, isId } from './rules.ts'
import * as store from './store.ts'
import type { Template, TemplateContent, TemplateSummary, TemplateVersion, VersionSummary } from './template.ts'

export type { Template, TemplateContent, TemplateSummary, TemplateVersion, VersionSummary } from './template.ts'
export { type TemplateVariable, VARIABLE_TYPES, type VariableType } from './variables.ts'

/** Number of versions kept per template, in addition to the active one. */
const MAX_INACTIVE_VERSIONS = 100

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

/** All functions throw templateIdInvalid for a template that the account does not have. */
export interface Templates {
  /**
   * Throws templateNameInvalid, templateBlank, templateTooLarge, templateNameTaken, parameterInvalid (account, content, subject,
   * variables).
   */
  create(template: NewTemplate): Promise<Template>
  /**
   * Changes the given fields. A different subject, content or list of variables creates a new version, which becomes
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
}

export function templatesOf(sql: Sql): Templates {
  /**
   * Runs `fn` with the template locked, and records the change in the audit log. Without a result of `fn`, nothing is
   * recorded.
   */
  async function change<T>(
    { accountId, id, by = OPERATOR }: TemplateAct,
    what: string,
    fn: (transaction: SqlTransaction, template: Template) => Promise<{ after?: AuditValues; answer: T } | undefined>,
  ): Promise<T | undefined> {
    if (!isId(id)) throw new ServiceError('templateIdInvalid')
    return sql
      .begin(async (transaction): Promise<{ answer: T } | undefined> => {
        const template = await store.lockTemplate(transaction, accountId, id)
        if (!template) throw new ServiceError('templateIdInvalid')
        const done = await fn(transaction, template)
        if (!done) return undefined
        const { after } = done
        await noteChange(transaction, {
          ...{ accountId, by, action: `template.${what}`, object: `template ${id}`, before: auditValues(template) },
          ...(after ? { after } : {}),
        })
        return done
      })
      .then((done) => done?.answer, refuseTaken)
  }

  async function show(accountId: number, id: number): Promise<Template> {
    const template = isId(id) ? await store.selectTemplate(sql, accountId, id) : undefined
    if (!template) throw new ServiceError('templateIdInvalid')
    return template
  }

  return {
    async create({ accountId, name, subject = null, content, variables = [], by = OPERATOR }) {
      const template = { accountId, name: cleanName(name), subject, content, variables }
      checkContent(template)
      return sql
        .begin(async (transaction) => {
          const made = await store.insertTemplate(transaction, template)
          const object = `template ${made.id}`
          await noteChange(transaction, { accountId, by, action: 'template.create', object, after: auditValues(made) })
          return made
        })
        .catch(refuseTaken)
    },
    async edit(act, { name, ...content }) {
      const clean = name === undefined ? undefined : cleanName(name)
      const edited = await change(act, 'edit', async (transaction, before) => {
        const wanted = { ...before, ...given(content) }
        checkContent(wanted)
        const renamed = clean !== undefined && clean !== before.name
        const rewritten = !isSame(wanted, before)
        if (renamed) await store.renameTemplate(transaction, before.id, clean)
        if (rewritten) {
          const number = await store.insertVersion(transaction, before.id, wanted)
          await store.activateVersion(transaction, before.id, number)
          await store.forgetVersions(transaction, before.id, MAX_INACTIVE_VERSIONS)
        }
        if (!renamed && !rewritten) return undefined
        const after = (await store.selectTemplate(transaction, before.accountId, before.id)) as Template
        return { after: auditValues(after), answer: after }
      })
      return edited ?? show(act.accountId, act.id)
    },
    async remove(act) {
      await change(act, 'delete', async (transaction, { id }) => {
        await store.deleteTemplate(transaction, id)
        return { answer: undefined }
      })
    },
    find: async (accountId, id) => (isId(id) ? store.selectTemplate(sql, accountId, id) : undefined),
    show,
    async list(accountId, page) {
      const [templates, total] = await Promise.all([
        store.selectTemplates(sql, accountId, page),
        store.countTemplates(sql, accountId),
      ])
      return { templates, total }
    },
    async addVersion(act, content) {
      const added = await change(act, 'add-version', async (transaction, template) => {
        const wanted = { ...template, ...given(content) }
        checkContent(wanted)
        const number = await store.insertVersion(transaction, template.id, wanted)
        await store.forgetVersions(transaction, template.id, MAX_INACTIVE_VERSIONS)
        const answer = await store.selectVersion(transaction, template.accountId, template.id, number)
        return { after: auditValues({ ...wanted, version: number }), answer: answer as TemplateVersion }
      })
      return added as TemplateVersion
    },
    async activate(act, number) {
      const activated = await change(act, 'activate', async (transaction, before) => {
        if (!isId(number)) throw new ServiceError('templateVersionUnknown')
        if (before.version === number) return undefined
        const found = await store.activateVersion(transaction, before.id, number)
        if (!found) throw new ServiceError('templateVersionUnknown')
        const after = (await store.selectTemplate(transaction, before.accountId, before.id)) as Template
        return { after: auditValues(after), answer: after }
      })
      return activated ?? show(act.accountId, act.id)
    },
    async versions(accountId, id) {
      const versions = isId(id) ? await store.selectVersions(sql, accountId, id) : []
      // A template always has an active version.
      if (versions.length === 0) throw new ServiceError('templateIdInvalid')
      return versions
    },
    async version(accountId, id, number) {
      const version = isId(id) && isId(number) ? await store.selectVersion(sql, accountId, id, number) : undefined
      if (version) return version
      await show(accountId, id)
      throw new ServiceError('templateVersionUnknown')
    },
  }
}

/** Removes undefined fields, which would overwrite existing values. */
function given(content: Partial<TemplateContent>): Partial<TemplateContent> {
  return Object.fromEntries(Object.entries(content).filter(([, value]) => value !== undefined))
}

/** Values for the audit log: content is recorded by size and digest. */
function auditValues({ name, version, content, variables }: Template): AuditValues {
  return {
    ...{ name, version, size: Buffer.byteLength(content), sha256: createHash('sha256').update(content).digest('hex') },
    ...(variables.length > 0 ? { variables: variables.map(({ name }) => name) } : {}),
  }
}

function isSame(a: TemplateContent, b: TemplateContent): boolean {
  const told = ({ variables }: TemplateContent) =>
    JSON.stringify(variables.map((one) => [one.name, one.type, one.required, one.default]))
  return a.subject === b.subject && a.content === b.content && told(a) === told(b)
}

function refuseTaken(error: unknown): never {
  if (isUniqueViolation(error, 'templates_name')) throw new ServiceError('templateNameTaken')
  if (databaseErrorCode(error) === '23503') throw invalidParameter('account', 'does not exist')
  throw error
}
