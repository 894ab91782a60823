import { type AnySql, onlyRow } from '../../platform/database/database.ts'
import type {
  ActiveVersion,
  EditableTemplate,
  EditableVersion,
  EditableVersionSummary,
  Generation,
} from './editable-template.ts'

const templateColumns = (sql: AnySql) => sql`t.id, t.generation, t.name, t.updated_at as "updatedAt"`
const summaryColumns = (sql: AnySql) => sql`
  v.id, v.template_id as "templateId", v.active, v.name, v.subject, v.generate_plain as "generatePlain", v.editor,
  v.updated_at as "updatedAt", v.problem`
const versionColumns = (sql: AnySql) => sql`${summaryColumns(sql)}, v.html, v.plain, v.test_data as "testData"`
const octets = (sql: AnySql) => sql`octet_length(html) + octet_length(plain) + coalesce(octet_length(test_data), 0)`

export async function insertTemplate(
  sql: AnySql,
  { accountId, id, generation, name }: { accountId: number; id: string; generation: Generation; name: string },
): Promise<EditableTemplate> {
  return onlyRow(
    await sql<EditableTemplate[]>`
      insert into editable_templates as t (account_id, id, generation, name)
      values (${accountId}, ${id}, ${generation}, ${name}) returning ${templateColumns(sql)}`,
  )
}

/** `lock`: locks the template and its versions until the end of the transaction. */
export async function selectTemplate(
  sql: AnySql,
  accountId: number,
  id: string,
  { lock = false } = {},
): Promise<EditableTemplate | undefined> {
  const rows = await sql<EditableTemplate[]>`
    select ${templateColumns(sql)} from editable_templates t
     where t.account_id = ${accountId} and t.id = ${id} ${lock ? sql`for no key update` : sql``}`
  return rows[0]
}

export interface Usage {
  readonly templates: number
  readonly versions: number
  /** Bytes of the texts and test data of all versions. */
  readonly octets: number
}

/** Returns what the account's templates use. */
export async function selectUsage(sql: AnySql, accountId: number): Promise<Usage> {
  return onlyRow(
    await sql<Usage[]>`
      select (select count(*)::int from editable_templates where account_id = ${accountId}) as templates,
             count(*)::int as versions, coalesce(sum(${octets(sql)}), 0)::float8 as octets
        from editable_versions where account_id = ${accountId}`,
  )
}

export interface TemplatePlace {
  readonly accountId: number
  readonly generations: readonly Generation[]
  readonly limit: number
  readonly offset: number
}

/** Newest first. */
export async function selectTemplates(
  sql: AnySql,
  { accountId, generations, limit, offset }: TemplatePlace,
): Promise<{ templates: EditableTemplate[]; total: number }> {
  const rows = await sql<(EditableTemplate & { total: number })[]>`
    select ${templateColumns(sql)}, count(*) over ()::int as total from editable_templates t
     where t.account_id = ${accountId} and t.generation = any(${[...generations]}::text[])
     order by t.created_at desc, t.id limit ${limit} offset ${offset}`
  return { templates: rows.map(({ total: _, ...template }) => template), total: rows[0]?.total ?? 0 }
}

/** Returns how many versions each of these templates has; those without any are left out. */
export async function countVersions(
  sql: AnySql,
  accountId: number,
  templateIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await sql<{ id: string; count: number }[]>`
    select template_id as id, count(*)::int as count from editable_versions
     where account_id = ${accountId} and template_id = any(${[...templateIds]}::text[]) group by template_id`
  return new Map(rows.map(({ id, count }) => [id, count]))
}

/** The active version first, then newest first. */
export async function selectSummaries(
  sql: AnySql,
  accountId: number,
  templateIds: readonly string[],
): Promise<EditableVersionSummary[]> {
  return sql<EditableVersionSummary[]>`
    select ${summaryColumns(sql)} from editable_versions v
     where v.account_id = ${accountId} and v.template_id = any(${[...templateIds]}::text[])
     order by v.active desc, v.created_at desc, v.id`
}

/** Sorted like {@link selectSummaries}. */
export async function selectVersions(sql: AnySql, accountId: number, templateId: string): Promise<EditableVersion[]> {
  return sql<EditableVersion[]>`
    select ${versionColumns(sql)} from editable_versions v
     where v.account_id = ${accountId} and v.template_id = ${templateId}
     order by v.active desc, v.created_at desc, v.id`
}

/** Bytes of the texts and test data of all versions except one, computed without reading them. */
export async function contentOfOthers(
  sql: AnySql,
  accountId: number,
  templateId: string,
  versionId: string,
): Promise<number> {
  return onlyRow(
    await sql<{ octets: number }[]>`
      select coalesce(sum(${octets(sql)}), 0)::float8 as octets from editable_versions
       where account_id = ${accountId} and template_id = ${templateId} and id <> ${versionId}::uuid`,
  ).octets
}

export async function selectVersion(
  sql: AnySql,
  accountId: number,
  templateId: string,
  versionId: string,
): Promise<EditableVersion | undefined> {
  const rows = await sql<EditableVersion[]>`
    select ${versionColumns(sql)} from editable_versions v
     where v.account_id = ${accountId} and v.template_id = ${templateId} and v.id = ${versionId}::uuid`
  return rows[0]
}

export async function selectActive(
  sql: AnySql,
  accountId: number,
  templateId: string,
): Promise<ActiveVersion | undefined> {
  const rows = await sql<ActiveVersion[]>`
    select ${summaryColumns(sql)}, v.html, v.plain, t.generation, t.name as "templateName"
      from editable_templates t join editable_versions v on v.account_id = t.account_id and v.template_id = t.id
     where t.account_id = ${accountId} and t.id = ${templateId} and v.active`
  return rows[0]
}

export type StoredVersion = Omit<EditableVersion, 'updatedAt'>

export async function insertVersion(sql: AnySql, accountId: number, version: StoredVersion): Promise<EditableVersion> {
  const { id, templateId, active, name, subject, html, plain, generatePlain, editor, testData, problem } = version
  return onlyRow(
    await sql<EditableVersion[]>`
      insert into editable_versions as v (account_id, template_id, id, active, name, subject, html, plain, generate_plain, editor,
             test_data, problem)
      values (${accountId}, ${templateId}, ${id}, ${active}, ${name}, ${subject}, ${html}, ${plain}, ${generatePlain}, ${editor},
              ${testData}, ${problem})
      returning ${versionColumns(sql)}`,
  )
}

export async function updateVersion(sql: AnySql, accountId: number, version: StoredVersion): Promise<EditableVersion> {
  const { id, templateId, active, name, subject, html, plain, generatePlain, testData, problem } = version
  return onlyRow(
    await sql<EditableVersion[]>`
      update editable_versions v
         set active = ${active}, name = ${name}, subject = ${subject}, html = ${html}, plain = ${plain},
             generate_plain = ${generatePlain}, test_data = ${testData}, problem = ${problem}, updated_at = service_now()
       where v.account_id = ${accountId} and v.template_id = ${templateId} and v.id = ${id}
      returning ${versionColumns(sql)}`,
  )
}

/** Stores why no message can be built from a version, unless it was changed meanwhile. */
export async function updateProblem(
  sql: AnySql,
  accountId: number,
  { id, templateId, updatedAt }: Pick<EditableVersion, 'id' | 'templateId' | 'updatedAt'>,
  problem: string | null,
): Promise<void> {
  await sql`
    update editable_versions set problem = ${problem}
     where account_id = ${accountId} and template_id = ${templateId} and id = ${id}
       and date_trunc('milliseconds', updated_at) = date_trunc('milliseconds', ${updatedAt}::timestamptz)`
}

export async function deactivate(sql: AnySql, accountId: number, templateId: string): Promise<void> {
  await sql`
    update editable_versions set active = false where account_id = ${accountId} and template_id = ${templateId} and active`
}

/** Updates the template's date, which changes with each change of its versions, and optionally its name. */
export async function touchTemplate(
  sql: AnySql,
  accountId: number,
  id: string,
  name: string | undefined,
): Promise<EditableTemplate> {
  return onlyRow(
    await sql<EditableTemplate[]>`
      update editable_templates t set name = coalesce(${name ?? null}, name), updated_at = service_now()
       where t.account_id = ${accountId} and t.id = ${id} returning ${templateColumns(sql)}`,
  )
}

export async function deleteTemplate(sql: AnySql, accountId: number, id: string): Promise<void> {
  await sql`delete from editable_templates where account_id = ${accountId} and id = ${id}`
}

export async function deleteVersion(
  sql: AnySql,
  accountId: number,
  templateId: string,
  versionId: string,
): Promise<void> {
  await sql`
    delete from editable_versions
     where account_id = ${accountId} and template_id = ${templateId} and id = ${versionId}`
}
