import type { DynamicRenderer, RenderFailure, TemplateData, TemplateName } from '../engine/index.ts'
import type { EditableVersion, Generation } from './editable-template.ts'
import { plainOf } from './rules.ts'

/** A version as a recipient with the given data would receive it. */
export interface TemplatePreview {
  readonly subject: string
  readonly html: string
  readonly text: string
  /** Names that are output without a value, at most 50; the message has nothing in their place. */
  readonly missing: readonly string[]
  /** Names that the template reads from the top of its data, at most 50. */
  readonly names: readonly TemplateName[]
  /** The reason why a send would fail; then the texts are those of the template. */
  readonly failure: RenderFailure | undefined
}

/**
 * Renders a version with its test data; plain text that saving would generate is generated. A legacy template has no data: its tags stay as they are.
 * Throws overloaded.
 */
export async function previewVersion(
  { renderer, accountId }: { readonly renderer: Pick<DynamicRenderer, 'renderDynamic'>; readonly accountId: number },
  generation: Generation,
  version: PreviewedVersion,
): Promise<TemplatePreview> {
  const { subject, html, testData } = version
  const plain = version.generatePlain ? await plainOf(html) : version.plain
  const asIs = { subject, html, text: plain, missing: [], names: [], failure: undefined }
  if (generation === 'legacy') return asIs
  const template = { subject, html, text: plain, listNames: true }
  const [rendered] = await renderer.renderDynamic(template, [dataOf(testData)], String(accountId))
  if (rendered?.kind !== 'rendered') return { ...asIs, failure: rendered?.failure }
  const { subject: filled = '', html: page = '', text = '', listed } = rendered
  return { ...asIs, subject: filled, html: page, text, ...listed }
}

export type PreviewedVersion = Pick<EditableVersion, 'subject' | 'html' | 'plain' | 'generatePlain' | 'testData'>

/** Test data is stored as JSON; anything but an object has no names. */
function dataOf(testData: string | null): TemplateData {
  const data: unknown = testData ? JSON.parse(testData) : {}
  return typeof data === 'object' && data !== null && !Array.isArray(data) ? (data as TemplateData) : {}
}
