import type { AnySql, Sql } from '../../platform/database/database.ts'

/** A tag and the time when it was first used. */
export interface Tag {
  readonly name: string
  readonly createdAt: Date
}

export interface TagPage {
  readonly accountId: number
  /** Only tags that begin with this text. */
  readonly prefix: string
  readonly limit: number
  readonly offset: number
}

/** Returns the first names of tags with a prefix. */
export async function selectTagNames(
  sql: AnySql,
  { accountId, prefix, limit }: Omit<TagPage, 'offset'>,
): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select name from tags
     where account_id = ${accountId} and name >= ${prefix} and name <= ${prefix} || U&'\\+10FFFF' and starts_with(name, ${prefix})
     order by name limit ${limit}`
  return rows.map(({ name }) => name)
}

/** Returns the account's tags with a prefix, ordered by name, and their total number. */
export async function selectTags(
  sql: AnySql,
  { accountId, prefix, limit, offset }: TagPage,
): Promise<{ tags: Tag[]; total: number }> {
  // In byte order, texts with a prefix are between the prefix and the prefix followed by the last Unicode character.
  const matching = sql`
    account_id = ${accountId} and name >= ${prefix} and name <= ${prefix} || U&'\\+10FFFF' and starts_with(name, ${prefix})`
  const [tags, [all]] = await Promise.all([
    sql<Tag[]>`
      select name, created_at as "createdAt" from tags where ${matching} order by name limit ${limit} offset ${offset}`,
    sql<{ total: number }[]>`select count(*)::int as total from tags where ${matching}`,
  ])
  return { tags, total: all?.total ?? 0 }
}

/** Returns which of these names are tags of the account. */
export async function selectKnownTags(sql: Sql, accountId: number, names: readonly string[]): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select name from tags where account_id = ${accountId} and name = any(${[...names]}::text[])`
  return rows.map(({ name }) => name)
}
