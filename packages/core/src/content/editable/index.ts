import { randomUUID } from 'node:crypto'
import { type Actor, type AuditValues, noteChange, OPERATOR } from '../../accounts/audit/index.ts'
import { isUniqueViolation, type Sql, type SqlTransaction } from '../../platform/database/database.ts'
import { invalidParameter, ServiceError } from '../../platform/errors.ts'
import type { DynamicRenderer } from '../engine/index.ts'
import type {
  ActiveVersion,
  EditableAct,
  EditableTemplate,
  EditableVersion,
  EditableVersionSummary,
  Generation,
  NewVersion,
  VersionAct,
  VersionChange,
} from './editable-template.ts'
import { makingPlain } from './make-plain.ts'
import { changed, checkName, checkTogether, checkVersion, EDITABLE_LIMITS } from './rules.ts'
import * as store from './store.ts'

export * from './editable-template.ts'
export { EDITABLE_LIMITS } from './rules.ts'

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

/**
 * All functions throw templateIdInvalid for a template and templateVersionUnknown for a version that the account does
 * not have. For content that cannot be stored they throw parameterInvalid (name, subject, html, plain, testData) or
 * templateTooLarge.
 */
export interface EditableTemplates {
  /**
   * Names need not be unique. Throws templatesTooMany; parameterInvalid (id) if the id is in use or belongs to the
   * other generation.
   */
  create(template: NewEditableTemplate): Promise<EditableTemplate>
  /** Newest first; versions are listed without content. */
  list(page: store.TemplatePlace): Promise<{ templates: TemplateWithVersions<EditableVersionSummary>[]; total: number }>
  show(accountId: number, id: string): Promise<TemplateWithVersions>
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
  /** Returns the active version for a send; undefined if the template does not exist or has no active version. */
  find(accountId: number, id: string): Promise<ActiveVersion | undefined>
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const DYNAMIC = /^d-[0-9a-f]{32}$/

/** Returns the generation that the form of an id indicates; undefined if the id is malformed. */
export function generationOf(id: string): Generation | undefined {
  return DYNAMIC.test(id) ? 'dynamic' : UUID.test(id) ? 'legacy' : undefined
}

export function editableTemplatesOf(sql: Sql, renderer: Pick<DynamicRenderer, 'plainText'>): EditableTemplates {
  /** Runs `fn` in a transaction that locks the template. */
  function withTemplate<T>(
    { accountId, id }: EditableAct,
    fn: (transaction: SqlTransaction, template: EditableTemplate) => Promise<T>,
  ): Promise<T> {
    return sql.begin(async (transaction) => {
      const template = generationOf(id) && (await store.selectTemplate(transaction, accountId, id, { lock: true }))
      if (!template) throw new ServiceError('templateIdInvalid')
      return fn(transaction, template)
    }) as Promise<T>
  }

  async function add(
    transaction: SqlTransaction,
    { accountId, id }: EditableAct,
    version: NewVersion,
    versionId: string,
    plainOf: (html: string) => string,
  ): Promise<EditableVersion> {
    const { active = false, editor = 'code', generatePlain = true, asIs = false } = version
    const existing = await store.selectSummaries(transaction, accountId, [id])
    if (existing.length >= EDITABLE_LIMITS.versions) {
      throw new ServiceError('templateVersionsTooMany', { values: { limit: EDITABLE_LIMITS.versions } })
    }
    if (existing.some((other) => other.id === versionId)) throw invalidParameter('versionId', 'is already in use')
    const first = existing.length === 0
    if (active && !first) await store.deactivate(transaction, accountId, id)
    const blank = { name: '', subject: '', html: '', plain: '', generatePlain, testData: null }
    const added = {
      ...changed(blank, version, plainOf),
      id: versionId,
      templateId: id,
      editor,
      active: active || (first && !asIs),
    }
    checkTogether(await store.contentOfOthers(transaction, accountId, id, versionId), added)
    return store.insertVersion(transaction, accountId, added)
  }

  async function requireCapacity(transaction: SqlTransaction, accountId: number): Promise<void> {
    // The lock serializes creation within the account, so that two concurrent calls cannot both use the last free slot.
    await transaction`select from accounts where id = ${accountId} for no key update`
    if ((await store.countTemplates(transaction, accountId)) >= EDITABLE_LIMITS.templates) {
      throw new ServiceError('templatesTooMany', { values: { limit: EDITABLE_LIMITS.templates } })
    }
  }

  async function show(accountId: number, id: string): Promise<TemplateWithVersions> {
    const template = generationOf(id) && (await store.selectTemplate(sql, accountId, id))
    if (!template) throw new ServiceError('templateIdInvalid')
    return { ...template, versions: await store.selectVersions(sql, accountId, id) }
  }

  return {
    async create({ accountId, name, generation, id = newId(generation), by }) {
      checkName(name)
      if (generationOf(id) !== generation)
        throw invalidParameter('id', 'template belongs to the other generation (legacy or dynamic)')
      try {
        return (await sql.begin(async (transaction) => {
          await requireCapacity(transaction, accountId)
          const template = await store.insertTemplate(transaction, { accountId, id, generation, name })
          await note(transaction, { accountId, id, by }, 'create', { after: { name, generation } })
          return template
        })) as EditableTemplate
      } catch (error) {
        if (isUniqueViolation(error, 'editable_templates_pkey')) throw invalidParameter('id', 'is already in use')
        throw error
      }
    },
    async list(page) {
      const { templates, total } = await store.selectTemplates(sql, page)
      const ids = templates.map(({ id }) => id)
      const versions = Map.groupBy(
        await store.selectSummaries(sql, page.accountId, ids),
        (version) => version.templateId,
      )
      return { templates: templates.map((one) => ({ ...one, versions: versions.get(one.id) ?? [] })), total }
    },
    show,
    async rename(act, name) {
      checkName(name)
      await withTemplate(act, async (transaction, before) => {
        await store.touchTemplate(transaction, act.accountId, act.id, name)
        await note(transaction, act, 'edit', { before: { name: before.name }, after: { name } })
      })
      return show(act.accountId, act.id)
    },
    async duplicate(act, name) {
      checkName(name)
      const { accountId, by } = act
      const source = await show(accountId, act.id)
      const id = newId(source.generation)
      await sql.begin(async (transaction) => {
        await requireCapacity(transaction, accountId)
        await store.insertTemplate(transaction, { accountId, id, generation: source.generation, name })
        for (const version of source.versions.toReversed()) {
          await store.insertVersion(transaction, accountId, { ...version, id: randomUUID(), templateId: id })
        }
        await note(transaction, { accountId, id, by }, 'create', { after: { name, copyOf: act.id } })
      })
      return show(accountId, id)
    },
    remove: (act) =>
      withTemplate(act, async (transaction, { name }) => {
        await store.deleteTemplate(transaction, act.accountId, act.id)
        await note(transaction, act, 'delete', { before: { name } })
      }),
    async addVersion(act, version, versionId = randomUUID()) {
      checkVersion(version)
      if (!UUID.test(versionId)) throw invalidParameter('versionId', 'must be a UUID')
      return makingPlain(renderer, (plainOf) =>
        withTemplate(act, async (transaction) => {
          const added = await add(transaction, act, version, versionId, plainOf)
          await store.touchTemplate(transaction, act.accountId, act.id, undefined)
          await note(transaction, act, 'version.create', { after: auditValues(added) })
          return added
        }),
      )
    },
    async editVersion(act, change) {
      checkVersion(change)
      return makingPlain(renderer, (plainOf) =>
        withTemplate(act, async (transaction) => {
          const { accountId, id, versionId } = act
          const before = await requireVersion(transaction, act)
          if (change.editor !== undefined && change.editor !== before.editor) {
            throw invalidParameter('editor', 'cannot be changed after a version exists')
          }
          const active = change.active === true || before.active
          if (active && !before.active) await store.deactivate(transaction, accountId, id)
          const edited = { ...changed(before, change, plainOf), id: versionId, active }
          if (change.html !== undefined || change.plain !== undefined) {
            checkTogether(await store.contentOfOthers(transaction, accountId, id, versionId), edited)
          }
          const after = await store.updateVersion(transaction, accountId, edited)
          await store.touchTemplate(transaction, accountId, id, undefined)
          await note(transaction, act, 'version.edit', { before: auditValues(before), after: auditValues(after) })
          return after
        }),
      )
    },
    activate: (act) =>
      withTemplate(act, async (transaction) => {
        const { accountId, id } = act
        const before = await requireVersion(transaction, act)
        if (before.active) return before
        await store.deactivate(transaction, accountId, id)
        const after = await store.updateVersion(transaction, accountId, { ...before, active: true })
        await store.touchTemplate(transaction, accountId, id, undefined)
        await note(transaction, act, 'version.activate', { after: auditValues(after) })
        return after
      }),
    removeVersion: (act) =>
      withTemplate(act, async (transaction) => {
        const before = await requireVersion(transaction, act)
        await store.deleteVersion(transaction, act.accountId, act.id, act.versionId)
        await store.touchTemplate(transaction, act.accountId, act.id, undefined)
        await note(transaction, act, 'version.delete', { before: auditValues(before) })
      }),
    async version(accountId, id, versionId) {
      await requireTemplate(sql, accountId, id)
      return requireVersion(sql, { accountId, id, versionId })
    },
    find: async (accountId, id) => (generationOf(id) ? store.selectActive(sql, accountId, id) : undefined),
  }
}

async function requireTemplate(sql: Sql, accountId: number, id: string): Promise<void> {
  const template = generationOf(id) && (await store.selectTemplate(sql, accountId, id))
  if (!template) throw new ServiceError('templateIdInvalid')
}

async function requireVersion(
  sql: Sql | SqlTransaction,
  { accountId, id, versionId }: Pick<VersionAct, 'accountId' | 'id' | 'versionId'>,
): Promise<EditableVersion> {
  const version = UUID.test(versionId) && (await store.selectVersion(sql, accountId, id, versionId))
  if (!version) throw new ServiceError('templateVersionUnknown')
  return version
}

function newId(generation: Generation): string {
  const id = randomUUID()
  return generation === 'dynamic' ? `d-${id.replaceAll('-', '')}` : id
}

/** Values of a version for the audit log, without its content. */
function auditValues({ id, name, subject, active }: EditableVersion): AuditValues {
  return { id, name, subject, active }
}

async function note(
  sql: SqlTransaction,
  { accountId, id, by = OPERATOR }: EditableAct,
  what: string,
  values: { readonly before?: AuditValues; readonly after?: AuditValues },
): Promise<void> {
  await noteChange(sql, { accountId, by, action: `template.${what}`, object: `template ${id}`, ...values })
}
