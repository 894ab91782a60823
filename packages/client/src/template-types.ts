import { PostriderError } from './errors.ts'
import type { ListTemplatesData, Templates, Variables } from './generated/templates.ts'

/** The most that the service lists at once. */
const PAGE = 100
const NAME = /^[A-Za-z_$][\w$]*$/

export interface TypedTemplate {
  readonly id: number
  readonly name: string
  readonly variables: readonly Variables[]
  /** Names of merge tags of its subject and texts that have no default. */
  readonly tags: readonly string[]
}

/** Reads all templates of the account, oldest first, one after another. Needs the scope templates. */
export async function* readTemplates(templates: Templates): AsyncGenerator<TypedTemplate> {
  for (let offset = 0; ; offset += PAGE) {
    const listed = (await templates.list({ limit: PAGE, offset })) as Extract<ListTemplatesData, readonly unknown[]>
    for (const { templateId: id, templateName: name } of listed) {
      const read = await Promise.all([templates.view({ templateId: id }), templates.render({ templateId: id })]).catch(
        unlessDeleted,
      )
      if (read) yield { id, name, variables: read[0].variables, tags: read[1].missing }
    }
    if (listed.length < PAGE) return
  }
}

/** The code of the error for a template that does not exist, or was deleted since it was listed. */
const NO_TEMPLATE = 150

function unlessDeleted(error: unknown): undefined {
  if (!(error instanceof PostriderError && error.code === NO_TEMPLATE)) throw error
}

/** Returns a module of TypeScript: ids by name, and the attributes of each template as types of a mail that is sent with it. */
export function typesOf(templates: readonly TypedTemplate[]): string {
  return `// Written by postrider-types. Run it again after a change of a template, instead of editing this file.

export const templates = {
${templates.map(({ id, name }) => `  ${key(name)}: ${id},\n`).join('')}} as const

declare module '@postrider/client' {
  interface TemplateAttributes {
${templates.map(({ id, name, ...of }) => `    /** ${name} */\n    ${id}: {\n${attributesOf(of).join('')}    }\n`).join('')}  }
}
`
}

function attributesOf({ variables, tags }: Pick<TypedTemplate, 'variables' | 'tags'>): string[] {
  // Merge tags match attributes regardless of case.
  const declared = new Set(variables.map(({ name }) => name.toLowerCase()))
  const found = tags.filter((name) => !declared.has(name.toLowerCase()))
  return [
    ...variables.map((one) => attribute(one.name, TYPES[one.type], one.required && one.default === null)),
    ...found.map((name) => attribute(name, 'string | number | boolean', true)),
  ]
}

/** Values that the service takes for each type. */
const TYPES: Readonly<Record<Variables['type'], string>> = {
  string: 'string | number | boolean',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a type of TypeScript
  number: 'number | `${number}`',
  boolean: "boolean | 'true' | 'false' | 0 | 1 | '0' | '1'",
  date: 'string',
}

function attribute(name: string, type: string, isRequired: boolean): string {
  return `      readonly ${key(name)}${isRequired ? '' : '?'}: ${type}${isRequired ? '' : ' | undefined'}\n`
}

function key(name: string): string {
  // In an object, it would be set as its prototype.
  if (name === '__proto__') return `['__proto__']`
  return NAME.test(name) ? name : `'${name}'`
}

/** Returns the lines that differ between two such modules, under the id of their template, as `+` and `-`. */
export function differences(before: string, after: string): string[] {
  const [old, own] = [blocksOf(before), blocksOf(after)]
  return [...new Set([...old.keys(), ...own.keys()])].flatMap((head) => {
    const [gone, come] = [old.get(head) ?? [], own.get(head) ?? []]
    const lines = [
      ...gone.filter((line) => !come.includes(line)).map((line) => `- ${line}`),
      ...come.filter((line) => !gone.includes(line)).map((line) => `+ ${line}`),
    ]
    return lines.length === 0 ? [] : [head, ...lines.map((line) => `  ${line}`)]
  })
}

function blocksOf(text: string): Map<string, string[]> {
  const blocks = new Map<string, string[]>()
  let head = 'templates'
  for (const line of text.split(/\r?\n/).map((one) => one.trim())) {
    if (/^\d+: \{$/.test(line)) head = `template ${line.slice(0, -3)}`
    const block = blocks.get(head)
    if (block) block.push(line)
    else blocks.set(head, [line])
  }
  return blocks
}
