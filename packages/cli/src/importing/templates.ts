import type { EditableVersion, EditableVersionSummary, TemplateWithVersions } from '@postrider/core'
import { apply, differs, type Move, refuse } from './move.ts'
import { readTemplates, readVersion, type SourceTemplate, type SourceVersion } from './reading.ts'
import { SourceError } from './source.ts'
import { tell } from './tally.ts'

type Here = TemplateWithVersions<EditableVersionSummary>

/** Imports templates with their ids and all versions, one version in memory at a time. */
export async function moveTemplates(move: Move): Promise<void> {
  const { source, bounds, progress } = move
  const templates = await readTemplates(source, bounds, (place, problem) =>
    refuse(move, place.includes('version') ? 'versions' : 'templates', place, problem),
  )
  const here = await templatesHere(move)
  const total = templates.reduce((sum, { versions }) => sum + versions.length, 0)
  let done = 0
  // The source and Postrider both list the newest first.
  for (const template of templates.toReversed()) {
    await moveTemplate(move, here.get(template.id), template)
    done += template.versions.length
    progress.show('versions', done, total)
  }
}

const PAGE = 200

async function templatesHere({ core, accountId }: Move): Promise<Map<string, Here>> {
  const found: Here[] = []
  for (;;) {
    const place = { accountId, generations: ['legacy', 'dynamic'] as const, limit: PAGE, offset: found.length }
    const { templates } = await core.editableTemplates.list(place)
    found.push(...templates)
    if (templates.length < PAGE) return new Map(found.map((template) => [template.id, template]))
  }
}

async function moveTemplate(move: Move, here: Here | undefined, template: SourceTemplate): Promise<void> {
  const { core, accountId, overwrite, tally } = move
  const { id, name, generation, versions } = template
  const thing = `template ${id} "${name}"`
  if (!here) {
    const added = await apply(move, 'templates', 'added', thing, () =>
      core.editableTemplates.create({ accountId, id, name, generation }),
    )
    if (!added) return
  } else if (here.name === name) tally.counts.templates.there++
  else if (overwrite) {
    await apply(move, 'templates', 'overwritten', thing, () => core.editableTemplates.rename({ accountId, id }, name))
  } else differs(move, 'templates', `${thing} is named "${here.name}" in Postrider`)
  const active = versions.find((version) => version.active)
  // The oldest first, to preserve the order of the list; the active one last, so that no other version is active meanwhile.
  const rest = versions.filter((version) => version !== active).toReversed()
  for (const version of [...rest, ...(active ? [active] : [])]) {
    await moveVersion(move, here, template, { id: version.id, active: version === active })
  }
  if (here && versions.length > 0 && !active && here.versions.some((version) => version.active)) {
    differs(move, 'versions', `${thing} has no active version at the source, but one in Postrider`)
  }
}

async function moveVersion(
  move: Move,
  here: Here | undefined,
  { id: templateId, generation }: SourceTemplate,
  { id, active }: { readonly id: string; readonly active: boolean },
): Promise<void> {
  const { core, accountId, source, overwrite, tally } = move
  const version = await readVersion(source, templateId, id).catch((error: unknown) => {
    // A version that was deleted meanwhile, or is not valid, does not prevent the import of the others.
    if (!(error instanceof SourceError && [200, 404].includes(error.status))) throw error
    refuse(move, 'versions', `template ${templateId}, version ${id}`, error.message)
  })
  if (!version) return
  if (version.pictured) tally.seen.pictures++
  if (version.editor === 'design') tally.seen.designs++
  const act = { accountId, id: templateId }
  const thing = `template ${templateId}, version ${id} "${version.name}"`
  const { pictured: _, ...content } = version
  const problem = await core.editableTemplates.problemOf(accountId, generation, version)
  if (problem !== null) tell(tally.unusable, `${thing}: ${problem.replaceAll('\n', '; ')}`)
  const other = here?.versions.find((one) => one.active && one.id !== id)
  // Messages are sent with the version that is active in Postrider; only --overwrite replaces it.
  const becomes = active && (overwrite || !other)
  const stays = () => differs(move, 'versions', `${thing} is active at the source, but not in Postrider`)
  if (!here?.versions.some((one) => one.id === id)) {
    const given = { ...content, active: becomes, asIs: true }
    await apply(move, 'versions', 'added', thing, () => core.editableTemplates.addVersion(act, given, id))
    if (active && !becomes) stays()
    return
  }
  const stored = await core.editableTemplates.version(accountId, templateId, id)
  const same = isSame(stored, version)
  if (same && (stored.active || !active)) tally.counts.versions.there++
  else if (overwrite) {
    const change = { ...content, ...(active ? { active } : {}), asIs: true }
    const edited = { ...act, versionId: id }
    await apply(move, 'versions', 'overwritten', thing, () => core.editableTemplates.editVersion(edited, change))
  } else if (same) stays()
  else differs(move, 'versions', `${thing} has other content in Postrider`)
}

function isSame(stored: EditableVersion, version: SourceVersion): boolean {
  return (
    stored.name === version.name &&
    stored.subject === version.subject &&
    stored.html === version.html &&
    stored.plain === version.plain &&
    stored.generatePlain === version.generatePlain &&
    stored.editor === version.editor &&
    (stored.testData ?? '') === version.testData
  )
}
