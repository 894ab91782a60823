// Generated from the operations of the v2 API by `npm run docs`. Edit those, not this file.
import type { Call, CallOptions } from '../call.ts'

export interface Template {
  readonly templateId: number
  readonly templateName: string
  readonly subject: string | null
  /** number of the active version */
  readonly version: number
  readonly createdAt: string
  readonly updatedAt: string
  readonly content: string
  /** plain text; null if the version has none, so that it is generated if the account has it so */
  readonly text: string | null
  readonly variables: readonly Variables[]
}

export interface Variables {
  readonly name: string
  readonly type: 'string' | 'number' | 'boolean' | 'date'
  readonly required: boolean
  readonly default: string | null
}

export interface TemplateShown {
  readonly version: number
  /** whether new messages use this version */
  readonly active: boolean
  readonly subject: string | null
  /** size of the content in bytes */
  readonly size: number
  readonly createdAt: string
  readonly content: string
  /** plain text; null if the version has none, so that it is generated if the account has it so */
  readonly text: string | null
  readonly variables: readonly Variables[]
}

export interface VariablesGiven {
  readonly name: string
  /** default string */
  readonly type?: 'string' | 'number' | 'boolean' | 'date' | undefined
  readonly required?: boolean | number | '0' | '1' | 'true' | 'false' | '' | null | undefined
  readonly default?: string | number | boolean | null | undefined
}

export interface CreateTemplateInput {
  readonly templateName?: string | null | undefined
  /** HTML, less than 10 MB; may be URL-encoded */
  readonly content?: string | null | undefined
  /** plain text, less than 10 MB; may be URL-encoded; an empty text removes it */
  readonly text?: string | null | undefined
  /** default subject of messages; an empty subject counts as missing */
  readonly subject?: string | null | undefined
  /** required and optional merge attributes of a message */
  readonly variables?: readonly VariablesGiven[] | null | undefined
}

export type CreateTemplateData = {
  readonly templateId: number
}

export interface EditTemplateInput {
  readonly templateId: number | string
  readonly templateName?: string | null | undefined
  /** HTML, less than 10 MB; may be URL-encoded */
  readonly content?: string | null | undefined
  /** plain text, less than 10 MB; may be URL-encoded; an empty text removes it */
  readonly text?: string | null | undefined
  /** default subject of messages; an empty subject counts as missing */
  readonly subject?: string | null | undefined
  /** required and optional merge attributes of a message */
  readonly variables?: readonly VariablesGiven[] | null | undefined
}

export type EditTemplateData = Readonly<Record<string, unknown>>

export interface ViewTemplateInput {
  readonly templateId: number | string
}

export type ViewTemplateData = Template

export interface ListTemplatesInput {
  /** at most 100; default 10 */
  readonly limit?: number | string | null | undefined
  /** number of rows to skip; default 0 */
  readonly offset?: number | string | null | undefined
  readonly template_id?: number | string | undefined
}

export type ListTemplatesData =
  | readonly {
      readonly templateId: number
      readonly templateName: string
      readonly subject: string | null
      /** number of the active version */
      readonly version: number
      readonly createdAt: string
      readonly updatedAt: string
    }[]
  | Template

export interface DeleteTemplateInput {
  readonly templateId: number | string
}

export type DeleteTemplateData = Readonly<Record<string, unknown>>

export interface AddTemplateVersionInput {
  readonly templateId: number | string
  /** HTML, less than 10 MB; may be URL-encoded */
  readonly content?: string | null | undefined
  /** plain text, less than 10 MB; may be URL-encoded; an empty text removes it */
  readonly text?: string | null | undefined
  /** default subject of messages; an empty subject counts as missing */
  readonly subject?: string | null | undefined
  /** required and optional merge attributes of a message */
  readonly variables?: readonly VariablesGiven[] | null | undefined
}

export type AddTemplateVersionData = TemplateShown

export interface ListTemplateVersionsInput {
  readonly templateId: number | string
}

export type ListTemplateVersionsData = readonly {
  readonly version: number
  /** whether new messages use this version */
  readonly active: boolean
  readonly subject: string | null
  /** size of the content in bytes */
  readonly size: number
  readonly createdAt: string
}[]

export interface ViewTemplateVersionInput {
  readonly templateId: number | string
  /** version number */
  readonly version: number | string
}

export type ViewTemplateVersionData = TemplateShown

export interface ActivateTemplateVersionInput {
  readonly templateId: number | string
  /** version number */
  readonly version: number | string
}

export type ActivateTemplateVersionData = {
  readonly version: number
}

export interface RenderTemplateInput {
  readonly templateId: number | string
  readonly attributes?:
    | Readonly<Record<string, string | number | boolean | null>>
    | readonly unknown[]
    | null
    | undefined
  readonly subject?: string | null | undefined
  /** version number */
  readonly version?: number | string | undefined
}

export type RenderTemplateData = {
  readonly version: number
  readonly subject: string
  readonly content: string
  /** its text part; null if a message has none */
  readonly text: string | null
  /** merge tags without a value, which are replaced by nothing */
  readonly missing: readonly string[]
  /** errors that a message with these attributes would cause */
  readonly problems: readonly string[]
}

export class Templates {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Create a template for use by templateId. Needs the scope templates. */
  create(input: CreateTemplateInput = {}, options?: CallOptions): Promise<CreateTemplateData> {
    return this.#call({ method: 'POST', path: '/template' }, input, options)
  }

  /** Change the name, the content or both. New content becomes a new active version. Needs the scope templates. */
  edit(input: EditTemplateInput, options?: CallOptions): Promise<EditTemplateData> {
    return this.#call({ method: 'PATCH', path: '/template/:templateId' }, input, options)
  }

  /** Show a template with the content of its active version. Needs the scope templates. */
  view(input: ViewTemplateInput, options?: CallOptions): Promise<ViewTemplateData> {
    return this.#call({ method: 'GET', path: '/template/:templateId' }, input, options)
  }

  /** List the templates without their content, oldest first; with template_id, show that template with its content. Needs the scope templates. */
  list(input: ListTemplatesInput = {}, options?: CallOptions): Promise<ListTemplatesData> {
    return this.#call({ method: 'GET', path: '/template' }, input, options)
  }

  /** Delete a template and its versions. Accepted messages keep their content, and the name can be reused. Needs the scope templates. */
  delete(input: DeleteTemplateInput, options?: CallOptions): Promise<DeleteTemplateData> {
    return this.#call({ method: 'DELETE', path: '/template/:templateId' }, input, options)
  }

  /** Add a version without activating it. Needs the scope templates. */
  addVersion(input: AddTemplateVersionInput, options?: CallOptions): Promise<AddTemplateVersionData> {
    return this.#call({ method: 'POST', path: '/template/:templateId/versions' }, input, options)
  }

  /** List the versions of a template without their content, newest first. The newest 100 and the active one are kept. Needs the scope templates. */
  listVersions(input: ListTemplateVersionsInput, options?: CallOptions): Promise<ListTemplateVersionsData> {
    return this.#call({ method: 'GET', path: '/template/:templateId/versions' }, input, options)
  }

  /** Show a version of a template with its content. Needs the scope templates. */
  viewVersion(input: ViewTemplateVersionInput, options?: CallOptions): Promise<ViewTemplateVersionData> {
    return this.#call({ method: 'GET', path: '/template/:templateId/versions/:version' }, input, options)
  }

  /** Activate a version for new messages. Needs the scope templates. */
  activateVersion(input: ActivateTemplateVersionInput, options?: CallOptions): Promise<ActivateTemplateVersionData> {
    return this.#call({ method: 'POST', path: '/template/:templateId/activate' }, input, options)
  }

  /** Render a template with attributes, and list the errors that a message with them would cause. Needs the scope templates. */
  render(input: RenderTemplateInput, options?: CallOptions): Promise<RenderTemplateData> {
    return this.#call({ method: 'POST', path: '/template/:templateId/render' }, input, options)
  }
}
