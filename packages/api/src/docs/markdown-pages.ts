import type { Field } from './fields.ts'
import { API_NAMES, APIS, type Frame } from './frame.ts'
import type { Described } from './reference.ts'
import { snippetsOf } from './snippets.ts'

/** The list of all pages for programs that read (https://llmstxt.org): a title, a sentence, and links by subject. */
export function guideIndex({ guides, operations }: Frame, publicUrl: string): string {
  const link = (path: string, title: string, about: string) => `- [${title}](${publicUrl}${path}.md): ${about}`
  const sections = Map.groupBy(guides, ({ section }) => section)
  return `${[
    '# Postrider',
    `> Transactional mail. This installation is reached at ${publicUrl}; calls of the v2 Web API carry the header \`api_key\`.`,
    ...[...sections].map(([section, rows]) =>
      [
        `## ${section}`,
        rows.map(({ name, title, subject }) => link(`/docs/guides/${name}`, title, subject)).join('\n'),
      ].join('\n\n'),
    ),
    ...API_NAMES.map((api) =>
      [
        `## ${APIS[api].title}`,
        operations[api].map(({ name, summary }) => link(`/docs/${api}/${name}`, name, summary)).join('\n'),
      ].join('\n\n'),
    ),
  ].join('\n\n')}\n`
}

/** The page of an operation as Markdown. */
export function operationText(operation: Described): string {
  const { name, summary, method, path, scope, inPath, inQuery, inBody, answer, errors, call } = operation
  const [curl] = snippetsOf(call)
  const parts = [
    `# ${name}`,
    `${summary}.`,
    `\`${method} ${path}\``,
    ...(scope === null ? [] : [`Needs a key with the scope \`${scope}\`.`]),
    ...fieldsText('In the path', inPath),
    ...fieldsText('In the query', inQuery),
    ...fieldsText('In the body', inBody),
    ...(curl ? ['## Example', fenced('sh', curl.code)] : []),
    `## Answer`,
    `Status ${answer.status}${answer.type === '' ? '' : `, ${answer.type}`}.`,
    ...(answer.example === '' ? [] : [fenced('json', answer.example)]),
    ...fieldsText('Fields of the answer', answer.fields),
    ...(errors.length === 0
      ? []
      : ['## Errors', errors.map(({ status, code, sentence }) => `- ${status}, code ${code}: ${sentence}`).join('\n')]),
  ]
  return `${parts.join('\n\n')}\n`
}

function fieldsText(title: string, fields: readonly Field[]): readonly string[] {
  return fields.length === 0 ? [] : [`## ${title}`, fields.map((field) => fieldText(field, 0)).join('\n')]
}

function fieldText({ name, type, required, description, limits, values, fields }: Field, depth: number): string {
  const notes = [
    type,
    ...(required ? ['required'] : []),
    ...limits,
    ...(values.length > 0 ? [`one of ${values.join(', ')}`] : []),
  ]
  const line = `${'  '.repeat(depth)}- \`${name}\` (${notes.join('; ')})${description === '' ? '' : `: ${description}`}`
  return [line, ...fields.map((field) => fieldText(field, depth + 1))].join('\n')
}

/** A block of code, within a fence that is longer than any in it. */
function fenced(language: string, code: string): string {
  const fence = code.includes('```') ? '````' : '```'
  return `${fence}${language}\n${code}\n${fence}`
}
