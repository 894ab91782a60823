import {
  type EditableVersionSummary,
  GENERATIONS,
  type Generation,
  longWork,
  type TemplateWithVersions,
} from '@postrider/core'
import type { Call } from '../operation.ts'
import { refuse } from '../refusal.ts'
import { shownTemplate, shownVersion } from './shown-template.ts'

/** Default and maximum number of templates per page. */
export const PAGE = 200

interface ListQuery {
  readonly generations?: string
  readonly page_size?: number
  readonly page_token?: string
}

/** Returns the JSON of one of two response formats: a page of results if page_size is given, else all templates (contract 3.5). */
export async function listTemplates(
  { generations, page_size: size, page_token: token }: ListQuery,
  call: Call,
): Promise<Buffer> {
  const { core, principal, publicUrl } = call
  const wanted = generationsOf(generations)
  const offset = offsetOf(token)
  const { id: accountId } = principal.account
  call.reply.type('application/json; charset=utf-8')
  if (size === undefined) {
    const found = []
    for (;;) {
      const page = await core.editableTemplates.list({
        accountId,
        generations: wanted,
        limit: PAGE,
        offset: found.length,
      })
      found.push(...page.templates)
      if (page.templates.length < PAGE) break
    }
    return jsonOf('{"templates":[', found, ']}')
  }
  const { templates, total } = await core.editableTemplates.list({
    accountId,
    generations: wanted,
    limit: size,
    offset,
  })
  const pageAt = (at: number): string => {
    const query = `page_token=${tokenOf(at)}&generations=${wanted.join(',')}&page_size=${size}`
    return `${publicUrl}/v3/templates?${query}`
  }
  const metadata = {
    ...(offset > 0 ? { prev: pageAt(Math.max(0, offset - size)) } : {}),
    self: pageAt(offset),
    ...(offset + templates.length < total ? { next: pageAt(offset + size) } : {}),
    count: total,
  }
  return jsonOf('{"result":[', templates, `],"_metadata":${JSON.stringify(metadata)}}`)
}

/** The JSON of these templates, made in slices: with the 10,000 versions that an account may have it has some megabytes. */
async function jsonOf(
  before: string,
  templates: readonly TemplateWithVersions<EditableVersionSummary>[],
  after: string,
): Promise<Buffer> {
  const work = longWork()
  const pieces: Buffer[] = []
  for (const template of templates) {
    const text = JSON.stringify(shownTemplate(template, template.versions.map(shownVersion)))
    pieces.push(Buffer.from(`${pieces.length === 0 ? before : ','}${text}`))
    await work.pause()
  }
  pieces.push(Buffer.from(`${pieces.length === 0 ? before : ''}${after}`))
  return Buffer.concat(pieces)
}

function generationsOf(text: string | undefined): Generation[] {
  const named = (text || 'legacy').split(',', 100).map((word) => word.trim())
  const known = GENERATIONS.filter((generation) => named.includes(generation))
  if (known.length < new Set(named).size) {
    throw refuse(400, 'generations must be legacy, dynamic, or both, with a comma in between.', 'generations')
  }
  return known
}

function tokenOf(offset: number): string {
  return Buffer.from(`t${offset}`).toString('base64url')
}

function offsetOf(token: string | undefined): number {
  if (token === undefined || token === '') return 0
  const offset = /^t(\d{1,9})$/.exec(Buffer.from(token, 'base64url').toString())?.[1]
  if (offset === undefined) throw refuse(400, 'page_token is invalid.', 'page_token')
  return Number(offset)
}
