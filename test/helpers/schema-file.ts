import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Sql } from '@postrider/core'
import { makeWholeDatabase } from './database.ts'
import { withPostgres } from './postgres-server.ts'

/** Where the schema lies. */
export const SCHEMA_FILE = fileURLToPath(new URL('../../sql/schema.sql', import.meta.url))
/** Major version of the Postgres whose wording the file has; others print some definitions in other words. */
export const WRITTEN_BY = 18

const HEADER = `-- The schema after all migrations, written from the catalogs of a migrated database by \`npm run docs\`: to be read, not to be run.
-- Changes are made in a new migration (sql/README.md). Partitions are left out: each has the columns and indexes of its parent.
`

interface Named {
  readonly name: string
}
interface Table extends Named {
  readonly oid: number
  readonly partitioned: string | null
  readonly options: readonly string[] | null
  readonly unlogged: boolean
}
interface Column extends Named {
  readonly type: string
  readonly required: boolean
  readonly value: string | null
  readonly identity: string
  readonly generated: string
  readonly storage: string | null
  readonly collation: string | null
  readonly compression: string
}

/**
 * The schema of a migrated database as SQL: sequences, functions, tables with their constraints, indexes and triggers, views. Partitions
 * are left out.
 */
export async function schemaOf(sql: Sql): Promise<string> {
  const parts = [HEADER]
  for (const table of await tablesOf(sql)) parts.push(await tableText(sql, table))
  for (const { name, definition } of await sql<(Named & { definition: string })[]>`
    select relname as name, pg_get_viewdef(oid, true) as definition from pg_class
     where relkind = 'v' and relnamespace = 'public'::regnamespace order by relname`) {
    parts.push(`create view ${name} as\n${definition}\n`)
  }
  const sequences = await sql<Named[]>`
    select s.relname || ' as ' || format_type(q.seqtypid, null) || ' increment ' || q.seqincrement || ' minvalue ' || q.seqmin
           || ' maxvalue ' || q.seqmax || ' cache ' || q.seqcache || case when q.seqcycle then ' cycle' else '' end as name
      from pg_class s join pg_sequence q on q.seqrelid = s.oid
     where s.relnamespace = 'public'::regnamespace
       and not exists (select from pg_depend d where d.objid = s.oid and d.deptype in ('a', 'i') and d.refclassid = 'pg_class'::regclass
                          and d.refobjsubid > 0)
     order by s.relname`
  if (sequences.length > 0) parts.push(sequences.map(({ name }) => `create sequence ${name};\n`).join(''))
  for (const { definition } of await sql<{ definition: string }[]>`
    select pg_get_functiondef(oid) as definition from pg_proc
     where pronamespace = 'public'::regnamespace and prokind in ('f', 'p') order by proname, pg_get_function_identity_arguments(oid)`) {
    parts.push(`${definition.replace(/\bpublic\./g, '').trimEnd()};\n`)
  }
  return parts.join('\n').replace(/[ \t]+$/gm, '')
}

async function tablesOf(sql: Sql): Promise<Table[]> {
  return sql<Table[]>`
    select c.oid::int, c.relname as name, c.reloptions as options, c.relpersistence = 'u' as unlogged,
           case when c.relkind = 'p' then pg_get_partkeydef(c.oid) end as partitioned
      from pg_class c
     where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace
     order by c.relname`
}

async function tableText(sql: Sql, { oid, name, partitioned, options, unlogged }: Table): Promise<string> {
  const columns = await sql<Column[]>`
    select a.attname as name, format_type(a.atttypid, a.atttypmod) as type, a.attnotnull as required, a.attidentity::text as identity,
           a.attgenerated::text as generated, pg_get_expr(d.adbin, d.adrelid, true) as value, a.attcompression::text as compression,
           case when a.attcollation <> t.typcollation then quote_ident(l.collname) end as collation,
           case when a.attstorage <> t.typstorage
                then case a.attstorage when 'e' then 'external' when 'm' then 'main' when 'p' then 'plain' else 'extended' end end as storage
      from pg_attribute a join pg_type t on t.oid = a.atttypid
      left join pg_collation l on l.oid = a.attcollation
      left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     where a.attrelid = ${oid} and a.attnum > 0 and not a.attisdropped order by a.attnum`
  const constraints = await sql<(Named & { definition: string })[]>`
    select conname as name, pg_get_constraintdef(oid, true) as definition from pg_constraint
     where conrelid = ${oid} and contype in ('p', 'u', 'c', 'f', 'x')
     order by position(contype in 'pucfx'), conname`
  const indexes = await sql<{ definition: string }[]>`
    select pg_get_indexdef(i.indexrelid, 0, true) as definition
      from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid = ${oid} and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.conrelid = ${oid})
     order by c.relname`
  const triggers = await sql<{ definition: string }[]>`
    select pg_get_triggerdef(oid, true) as definition from pg_trigger where tgrelid = ${oid} and not tgisinternal order by tgname`
  const lines = [
    ...columns.map(columnText),
    ...constraints.map((constraint) => `  constraint ${constraint.name} ${plain(constraint.definition)}`),
  ]
  const tail = [
    partitioned === null ? '' : ` partition by ${partitioned.toLowerCase()}`,
    options === null ? '' : ` with (\n  ${options.map((option) => option.replace('=', ' = ')).join(',\n  ')}\n)`,
  ].join('')
  const beside = [...indexes, ...triggers].map(({ definition }) => `${plain(definition)};\n`)
  return `create ${unlogged ? 'unlogged ' : ''}table ${name} (\n${lines.join(',\n')}\n)${tail};\n${beside.join('')}`
}

function columnText({
  name,
  type,
  required,
  value,
  identity,
  generated,
  storage,
  collation,
  compression,
}: Column): string {
  return [
    `  ${name} ${plain(type)}`,
    collation === null ? '' : `collate ${collation}`,
    storage === null ? '' : `storage ${storage}`,
    compression === 'l' ? 'compression lz4' : '',
    required ? 'not null' : '',
    identity === '' ? '' : `generated ${identity === 'a' ? 'always' : 'by default'} as identity`,
    value === null ? '' : generated === '' ? `default ${plain(value)}` : `generated always as (${plain(value)})`,
  ]
    .filter((words) => words !== '')
    .join(' ')
}

/** A definition as the migrations write theirs: lower-case words, without the schema and what is the default. */
function plain(definition: string): string {
  return definition
    .replace(/'(?:[^']|'')*'|"[^"]*"|[^'"]+/g, (part) => (/^['"]/.test(part) ? part : part.toLowerCase()))
    .replace(/\bon only /g, 'on ')
    .replace(/ using btree\b|\bpublic\./g, '')
    .replace(/\btimestamp with time zone\b/g, 'timestamptz')
}

if (import.meta.main) {
  await withPostgres(async ({ url }) => {
    const database = await makeWholeDatabase(url)
    writeFileSync(SCHEMA_FILE, await schemaOf(database.sql))
    await database.drop()
  })
}
