import type { Generation } from '@postrider/core'
import { attempt } from '../../frame/attempt.ts'
import type { AccountCall } from '../../frame/call.ts'

/** The kinds of templates: dynamic and legacy ones of the v3 API, and those of the v2 API with merge tags. */
export type TemplateKind = Generation | 'merge'

export interface ShownVersion {
  /** A UUID; for merge templates the number. */
  readonly id: string
  readonly name: string
  readonly active: boolean
  readonly at: Date
  /** Why no message can be built from it, a line for each of its texts. */
  readonly problem: string | null
}

export interface ShownTemplate {
  readonly id: string
  readonly kind: TemplateKind
  readonly name: string
  /** The active version first, then from newest to oldest. */
  readonly versions: readonly ShownVersion[]
}

/** The texts that are edited. Templates with merge tags keep no generated text, and have their test data in common for all versions. */
export interface TemplateTexts {
  readonly subject: string
  readonly html: string
  readonly plain: string
  readonly generatePlain: boolean
  readonly testData: string
}

/** Returns the account's template with this id of either API; undefined if there is none. */
export async function findTemplate(
  { core, account: own }: AccountCall,
  id: string,
): Promise<ShownTemplate | undefined> {
  const number = numberOf(id)
  if (number === undefined) {
    const found = await attempt(() => core.editableTemplates.summary(own.id, id))
    if (!found.ok) return undefined
    const { generation: kind, name, versions } = found.value
    return { id, kind, name, versions: versions.map((one) => ({ ...one, at: one.updatedAt })) }
  }
  const found = await attempt(() =>
    Promise.all([core.templates.show(own.id, number), core.templates.versions(own.id, number)]),
  )
  if (!found.ok) return undefined
  const [{ name }, versions] = found.value
  const shown = versions.map(({ number: version, active, createdAt }) => ({
    id: String(version),
    name: String(version),
    active,
    at: createdAt,
    problem: null,
  }))
  return { id, kind: 'merge', name, versions: shown.sort((a, b) => Number(b.active) - Number(a.active)) }
}

export async function readTexts(
  { core, account: own }: AccountCall,
  { id, kind }: ShownTemplate,
  version: string,
): Promise<TemplateTexts> {
  if (kind === 'merge') {
    const [{ subject, content, text }, testData] = await Promise.all([
      core.templates.version(own.id, Number(id), Number(version)),
      core.templates.testData(own.id, Number(id)),
    ])
    return { subject: subject ?? '', html: content, plain: text ?? '', generatePlain: false, testData: testData ?? '' }
  }
  const found = await core.editableTemplates.version(own.id, id, version)
  return { ...found, testData: found.testData ?? '' }
}

/** Saves a version of a v3 template in place; any other becomes a new version, unless only its test data changed. Returns the id of the version. */
export async function saveTexts(
  call: AccountCall,
  template: ShownTemplate,
  version: ShownVersion | undefined,
  texts: TemplateTexts,
): Promise<string> {
  const { core, account: own, by } = call
  const { id, kind, versions } = template
  if (kind === 'merge') return saveMerge(call, template, version, texts)
  const { subject, html, plain, generatePlain, testData } = texts
  // An empty text would be generated again, whatever the box says.
  const change = { subject, html, testData, generatePlain, ...(generatePlain ? {} : { plain }) }
  const act = { accountId: own.id, id, by }
  if (version) return (await core.editableTemplates.editVersion({ ...act, versionId: version.id }, change)).id
  const name = `Version ${versions.length + 1}`
  return (await core.editableTemplates.addVersion(act, { ...change, name })).id
}

async function saveMerge(
  call: AccountCall,
  template: ShownTemplate,
  version: ShownVersion | undefined,
  { subject, html, plain, testData }: TemplateTexts,
): Promise<string> {
  const { core, account: own, by } = call
  const act = { accountId: own.id, id: Number(template.id), by }
  const before = version && (await readTexts(call, template, version.id))
  await core.templates.keepTestData(act, testData)
  if (version && before?.subject === subject && before.html === html && before.plain === plain) return version.id
  const content = { subject: subject === '' ? null : subject, content: html, text: plain.trim() === '' ? null : plain }
  return String((await core.templates.addVersion(act, content)).number)
}

export async function activateVersion(
  { core, account: own, by }: AccountCall,
  { id, kind }: ShownTemplate,
  version: string,
): Promise<void> {
  if (kind === 'merge') await core.templates.activate({ accountId: own.id, id: Number(id), by }, Number(version))
  else await core.editableTemplates.activate({ accountId: own.id, id, versionId: version, by })
}

export async function removeTemplate({ core, account: own, by }: AccountCall, { id, kind }: ShownTemplate) {
  if (kind === 'merge') await core.templates.remove({ accountId: own.id, id: Number(id), by })
  else await core.editableTemplates.remove({ accountId: own.id, id, by })
}

/** The number of a merge template; undefined for the ids of the v3 API. */
function numberOf(id: string): number | undefined {
  const number = Number(id)
  return id.length < 16 && Number.isSafeInteger(number) && number > 0 && String(number) === id ? number : undefined
}
