import type { EditableTemplate, EditableVersion, EditableVersionSummary } from '@postrider/core'
import { timeText } from '../../http/time-text.ts'

/** A template as v3 shows it (contract 3.5), with its versions as they are given. */
export function shownTemplate({ id, name, generation, updatedAt }: EditableTemplate, versions: readonly unknown[]) {
  return { id, name, generation, updated_at: timeText(updatedAt), versions }
}

export function wholeTemplate(
  template: EditableTemplate & { readonly versions: readonly EditableVersion[] },
  accountId: number,
) {
  const versions = template.versions.map((version) => ({ ...wholeVersion(version), user_id: accountId }))
  return shownTemplate(template, versions)
}

export function shownVersion(version: EditableVersionSummary) {
  const { id, templateId, active, name, subject, generatePlain, editor, updatedAt } = version
  return {
    id,
    template_id: templateId,
    active: active ? 1 : 0,
    name,
    subject,
    editor,
    thumbnail_url: '',
    generate_plain_content: generatePlain,
    updated_at: timeText(updatedAt),
  }
}

export function wholeVersion(version: EditableVersion) {
  const { html, plain, testData, problem } = version
  return {
    ...shownVersion(version),
    html_content: html,
    plain_content: plain,
    ...(testData === null ? {} : { test_data: testData }),
    ...(problem === null ? {} : { warnings: problem.split('\n').map((message) => ({ message })) }),
  }
}
