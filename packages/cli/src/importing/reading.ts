import type { Editor, Generation } from '@postrider/core'
import { type Bounds, type Source, SourceError } from './source.ts'

export interface SourceGroup {
  readonly id: number
  readonly name: string
  readonly description: string
  readonly isDefault: boolean
}

export interface SourceTemplate {
  readonly id: string
  readonly name: string
  readonly generation: Generation
  /** In the order of the source's list; Postrider lists the active one first, then the newest. */
  readonly versions: readonly { readonly id: string; readonly active: boolean }[]
}

export interface SourceVersion {
  readonly name: string
  readonly subject: string
  readonly html: string
  readonly plain: string
  readonly generatePlain: boolean
  readonly editor: Editor
  /** Empty if there is none. */
  readonly testData: string
  /** The version has a thumbnail, which is not imported. */
  readonly pictured: boolean
}

const TEMPLATES_PAGE = 50
const MAX_VERSIONS = 1000

/** Called for each entry that cannot be read, with its position. The other entries are still read. */
export type Broken = (place: string, problem: string) => void

export async function readGroups(source: Source, broken: Broken): Promise<SourceGroup[]> {
  const path = '/v3/asm/groups'
  return list(await source.get(path), path).flatMap((one, at): SourceGroup[] =>
    entry(`groups, entry ${at + 1}`, broken, () => {
      const { id, name, description, is_default } = record(one, path)
      if (!Number.isSafeInteger(id)) throw unexpectedResponse(path, 'a group without a numeric id')
      return { id: Number(id), name: text(name), description: text(description), isDefault: is_default === true }
    }),
  )
}

/** What `read` returns for an entry, or nothing if the entry is invalid. */
function entry<T>(place: string, broken: Broken, read: () => T): T[] {
  try {
    return [read()]
  } catch (error) {
    if (!(error instanceof SourceError)) throw error
    broken(place, error.message)
    return []
  }
}

/** Reads the templates of both generations as listed, without the contents of their versions. Throws {@link SourceError}. */
export async function readTemplates(source: Source, bounds: Bounds, broken: Broken): Promise<SourceTemplate[]> {
  const path = '/v3/templates'
  const found: SourceTemplate[] = []
  let read = 0
  const tokens = new Set<string>()
  for (let token = ''; ; ) {
    const query = `generations=legacy,dynamic&page_size=${TEMPLATES_PAGE}${token ? `&page_token=${encodeURIComponent(token)}` : ''}`
    const answer = record(await source.get(`${path}?${query}`), path)
    for (const one of list(answer.result ?? answer.templates, path)) {
      const place = `templates, entry ${++read}`
      found.push(...entry(place, broken, () => templateOf(record(one, path), place, broken)))
    }
    if (read > bounds.templates) throw unexpectedResponse(path, `more than ${bounds.templates} templates`)
    token = nextToken(record(answer._metadata ?? {}, path).next)
    if (token === '') return found
    if (tokens.has(token)) throw unexpectedResponse(path, 'the same page twice')
    tokens.add(token)
  }
}

/** Uses only the token of the link: the key is sent to the base URL only, whatever host the link names. */
function nextToken(next: unknown): string {
  const link = text(next)
  if (link === '') return ''
  const token =
    URL.canParse(link, 'http://base.invalid') && new URL(link, 'http://base.invalid').searchParams.get('page_token')
  if (!token) throw unexpectedResponse('/v3/templates', 'a link to the next page without page_token')
  return token
}

function templateOf({ id, name, generation, versions }: JsonObject, place: string, broken: Broken): SourceTemplate {
  const path = '/v3/templates'
  const listed = list(versions ?? [], path)
  if (listed.length > MAX_VERSIONS) throw unexpectedResponse(path, `a template with more than ${MAX_VERSIONS} versions`)
  return {
    id: text(id),
    name: text(name),
    generation: generation === 'dynamic' ? 'dynamic' : 'legacy',
    versions: listed.flatMap((one, at) =>
      entry(`${place}, version ${at + 1}`, broken, () => {
        const version = record(one, path)
        return { id: text(version.id), active: version.active === 1 || version.active === true }
      }),
    ),
  }
}

export async function readVersion(source: Source, templateId: string, versionId: string): Promise<SourceVersion> {
  const path = `/v3/templates/${encodeURIComponent(templateId)}/versions/${encodeURIComponent(versionId)}`
  const version = record(await source.get(path), path)
  return {
    name: text(version.name),
    subject: text(version.subject),
    html: text(version.html_content),
    plain: text(version.plain_content),
    generatePlain: version.generate_plain_content !== false,
    editor: version.editor === 'design' ? 'design' : 'code',
    testData: text(version.test_data),
    pictured: text(version.thumbnail_url) !== '',
  }
}

export type JsonObject = Readonly<Record<string, unknown>>

export function list(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value)) throw unexpectedResponse(path, 'not a list')
  return value
}

export function record(value: unknown, path: string): JsonObject {
  if (!isRecord(value)) throw unexpectedResponse(path, 'not an object')
  return value
}

export function isRecord(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A missing or null text is returned as an empty string. */
export function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The error for JSON that is not what a v3 API returns. */
export function unexpectedResponse(path: string, found: string): SourceError {
  return new SourceError(`${path}: not the response of a v3 API (${found})`, 200)
}
