import type { AnySql } from '../../platform/database/database.ts'
import type { Generation } from '../editable/editable-template.ts'

/** A template of either API in a list for people. */
export interface AnyTemplate {
  /** The number of a template with merge tags; the id of any other. */
  readonly id: string
  readonly kind: Generation | 'merge'
  readonly name: string
  /** Number of versions. */
  readonly versions: number
  /** Subject of the active version; null without one. */
  readonly subject: string | null
  /** Whether no message can be built from the active version. */
  readonly fails: boolean
  readonly updatedAt: Date
}

/**
 * Returns a page of all templates of an account, the one that was changed last first. An account has at most 2,000. Versions are counted by the
 * database: a page of templates may have thousands of them.
 */
export async function listAll(
  sql: AnySql,
  accountId: number,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ templates: AnyTemplate[]; total: number }> {
  const rows = await sql<(AnyTemplate & { total: number })[]>`
    with page as (
      select id, generation as kind, name, updated_at, count(*) over ()::int as total from (
        select id, generation, name, updated_at from editable_templates where account_id = ${accountId}
        union all
        select id::text, 'merge', name, updated_at from templates where account_id = ${accountId}) t
       order by updated_at desc, id limit ${limit} offset ${offset}
    )
    select p.id, p.kind, p.name, p.updated_at as "updatedAt", p.total, v.versions, v.subject, v.fails
      from page p cross join lateral (
        select count(*)::int as versions, max(e.subject) filter (where e.active) as subject,
               coalesce(bool_or(e.problem is not null) filter (where e.active), false) as fails
          from editable_versions e
         where p.kind <> 'merge' and e.account_id = ${accountId} and e.template_id = p.id
        having p.kind <> 'merge'
        union all
        select count(*)::int, max(v.subject) filter (where v.number = t.version), false
          from templates t join template_versions v on v.template_id = t.id
         where p.kind = 'merge' and t.id = case when p.kind = 'merge' then p.id::int end
        having p.kind = 'merge') v
     order by p.updated_at desc, p.id`
  return { templates: rows.map(({ total: _, ...template }) => template), total: rows[0]?.total ?? 0 }
}
