import { type AnySql, onlyRow } from '../../platform/database/database.ts'
import type { Template, TemplateContent, TemplateSummary, TemplateVersion, VersionSummary } from './template.ts'

const summary = (sql: AnySql) => sql`
  id, account_id as "accountId", name, version, subject, created_at as "createdAt", updated_at as "updatedAt"`

/** See the column: it is read with the active version. */
const textOf = (sql: AnySql) => sql`
  (select v.text from template_versions v where v.template_id = templates.id and v.number = templates.version) as text`

/** Inserts a template with its first version. */
export async function insertTemplate(
  sql: AnySql,
  { accountId, name, subject, content, text, variables }: TemplateContent & { accountId: number; name: string },
): Promise<Template> {
  return onlyRow(
    await sql<Template[]>`
      with made as (
        insert into templates (account_id, name, subject, content, variables)
        values (${accountId}, ${name}, ${subject}, ${content}, ${JSON.stringify(variables)}::text::jsonb)
        returning *
      ), first as (
        insert into template_versions (template_id, number, subject, content, text, variables)
        select id, version, subject, content, ${text}, variables from made
        returning text
      )
      select ${summary(sql)}, content, first.text, variables from made, first`,
  )
}

export async function selectTemplate(sql: AnySql, accountId: number, id: number): Promise<Template | undefined> {
  const rows = await sql<Template[]>`
    select ${summary(sql)}, content, ${textOf(sql)}, variables from templates where id = ${id} and account_id = ${accountId}`
  return rows[0]
}

/** Like {@link selectTemplate}, but locks the template until the end of the transaction. */
export async function lockTemplate(sql: AnySql, accountId: number, id: number): Promise<Template | undefined> {
  // A statement that waits for the lock would read the new row with the versions of before.
  await sql`select from templates where id = ${id} and account_id = ${accountId} for no key update`
  return selectTemplate(sql, accountId, id)
}

export async function selectTemplates(
  sql: AnySql,
  accountId: number,
  { limit, offset }: { limit: number; offset: number },
): Promise<TemplateSummary[]> {
  return sql<TemplateSummary[]>`
    select ${summary(sql)} from templates where account_id = ${accountId} order by id limit ${limit} offset ${offset}`
}

export async function countTemplates(sql: AnySql, accountId: number): Promise<number> {
  const rows = await sql<{ count: number }[]>`
    select count(*)::int as count from templates where account_id = ${accountId}`
  return onlyRow(rows).count
}

/**
 * Returns the bytes of all versions of the account, computed without reading them, and locks the account until the end
 * of the transaction, so that no other version is added.
 */
export async function lockUsage(sql: AnySql, accountId: number): Promise<number> {
  await sql`select from accounts where id = ${accountId} for no key update`
  const rows = await sql<{ octets: number }[]>`
    select coalesce(sum(octet_length(v.content) + coalesce(octet_length(v.text), 0) + pg_column_size(v.variables)
                    + coalesce(octet_length(v.subject), 0)), 0)::float8 as octets
      from templates t join template_versions v on v.template_id = t.id where t.account_id = ${accountId}`
  return onlyRow(rows).octets
}

export async function renameTemplate(sql: AnySql, id: number, name: string): Promise<void> {
  await sql`update templates set name = ${name}, updated_at = service_now() where id = ${id}`
}

export async function selectTestData(sql: AnySql, id: number): Promise<string | null> {
  const rows = await sql<{ testData: string | null }[]>`select test_data as "testData" from templates where id = ${id}`
  return rows[0]?.testData ?? null
}

/** Returns whether the test data differed. */
export async function updateTestData(sql: AnySql, id: number, testData: string | null): Promise<boolean> {
  const { count } = await sql`
    update templates set test_data = ${testData} where id = ${id} and test_data is distinct from ${testData}`
  return count > 0
}

/** Also deletes its versions. */
export async function deleteTemplate(sql: AnySql, id: number): Promise<void> {
  await sql`delete from templates where id = ${id}`
}

/** Adds an inactive version and returns its number. The caller holds the lock of {@link lockTemplate}. */
export async function insertVersion(sql: AnySql, id: number, version: TemplateContent): Promise<number> {
  const { subject, content, text, variables } = version
  const rows = await sql<{ number: number }[]>`
    insert into template_versions (template_id, number, subject, content, text, variables)
    select ${id}::int, coalesce(max(number), 0) + 1, ${subject}::text, ${content}::text, ${text}::text,
           ${JSON.stringify(variables)}::text::jsonb
      from template_versions where template_id = ${id}
    returning number`
  return onlyRow(rows).number
}

/** Activates a version; returns whether it exists. */
export async function activateVersion(sql: AnySql, id: number, number: number): Promise<boolean> {
  const { count } = await sql`
    update templates t
       set version = v.number, subject = v.subject, content = v.content, variables = v.variables, updated_at = service_now()
      from template_versions v
     where t.id = ${id} and v.template_id = ${id} and v.number = ${number}`
  return count > 0
}

/** Deletes all versions except the newest `keep` and the active one. */
export async function forgetVersions(sql: AnySql, id: number, keep: number): Promise<void> {
  await sql`
    delete from template_versions
     where template_id = ${id}
       and number <= (select number from template_versions where template_id = ${id} order by number desc offset ${keep} limit 1)
       and number <> (select version from templates where id = ${id})`
}

/** Newest first. */
export async function selectVersions(sql: AnySql, accountId: number, id: number): Promise<VersionSummary[]> {
  return sql<VersionSummary[]>`
    select v.number, v.number = t.version as active, v.subject, octet_length(v.content) as size, v.created_at as "createdAt"
      from templates t join template_versions v on v.template_id = t.id
     where t.id = ${id} and t.account_id = ${accountId} order by v.number desc`
}

export async function selectVersion(
  sql: AnySql,
  accountId: number,
  id: number,
  number: number,
): Promise<TemplateVersion | undefined> {
  const rows = await sql<TemplateVersion[]>`
    select v.number, v.number = t.version as active, v.subject, v.content, v.text, v.variables, v.created_at as "createdAt"
      from templates t join template_versions v on v.template_id = t.id
     where t.id = ${id} and t.account_id = ${accountId} and v.number = ${number}`
  return rows[0]
}
