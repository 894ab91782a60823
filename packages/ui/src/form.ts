import { type Html, html, type Value } from './html.ts'

/** A labelled input. `problem` is shown below it, and is what a screen reader says for it. */
export interface FieldOptions {
  readonly name: string
  /** Unique on the page; by default the name. */
  readonly id?: string
  readonly label: string
  readonly type?: 'text' | 'email' | 'password' | 'search' | 'url' | 'number' | 'date' | 'file'
  readonly value?: string
  readonly autocomplete?: string
  readonly required?: boolean
  readonly autofocus?: boolean
  readonly readonly?: boolean
  readonly placeholder?: string
  readonly hint?: string
  readonly problem?: string | undefined
  readonly maxlength?: number
  /** Shown after the label. */
  readonly aside?: Value
}

export function inputField(options: FieldOptions): Html {
  const { name, id = name, label, type = 'text', value = '', autocomplete = 'off', placeholder = '', aside } = options
  return html`<div class="fld"><div class="row"><label for="f-${id}">${label}</label>${aside}</div>
    <input class="in" id="f-${id}" name="${name}" type="${type}" value="${
      type === 'password' ? '' : value
    }" autocomplete="${autocomplete}" placeholder="${placeholder}" maxlength="${options.maxlength ?? 1000}"${flags(options)}${describedBy(options)}>
  ${notes(options)}</div>`
}

/** A labelled field of several lines. */
export function textField(options: Omit<FieldOptions, 'type'> & { readonly rows?: number }): Html {
  const { name, id = name, label, value = '', placeholder = '', rows = 4, aside } = options
  return html`<div class="fld"><div class="row"><label for="f-${id}">${label}</label>${aside}</div>
    <textarea class="in" id="f-${id}" name="${name}" rows="${rows}" placeholder="${placeholder}" spellcheck="false"${flags(options)}${describedBy(options)}>
${value}</textarea>${notes(options)}</div>`
}

/** A labelled choice of one. */
export function selectField(
  options: Pick<FieldOptions, 'name' | 'id' | 'label' | 'value' | 'hint' | 'problem'> & {
    readonly choices: readonly (readonly [value: string, label: string])[]
  },
): Html {
  const { name, id = name, label, value = '', choices } = options
  return html`<div class="fld"><label for="f-${id}">${label}</label><select class="in" id="f-${id}" name="${name}"${describedBy(options)}>${choices.map(
    ([choice, text]) => html`<option value="${choice}"${choice === value && html` selected`}>${text}</option>`,
  )}</select>${notes(options)}</div>`
}

/** A box to tick, with its explanation. */
export function checkField(options: {
  readonly name: string
  readonly value?: string
  readonly label: string
  readonly hint?: string
  readonly checked?: boolean
}): Html {
  const { name, value = 'on', label, hint, checked } = options
  return html`<label class="opt"><input type="checkbox" name="${name}" value="${value}"${checked && html` checked`}><span>${label}
    ${hint && html`<small>${hint}</small>`}</span></label>`
}

function flags({ required, autofocus, readonly, problem }: Partial<FieldOptions>): Value {
  return [
    required && html` required`,
    (autofocus || problem !== undefined) && html` autofocus`,
    readonly && html` readonly`,
    problem !== undefined && html` aria-invalid="true"`,
  ]
}

function describedBy({
  name,
  id = name,
  hint,
  problem,
}: Pick<FieldOptions, 'name' | 'id' | 'hint' | 'problem'>): Value {
  const ids = [problem !== undefined && `p-${id}`, hint !== undefined && `h-${id}`].filter((id) => id !== false)
  return ids.length > 0 && html` aria-describedby="${ids.join(' ')}"`
}

function notes({ name, id = name, hint, problem }: Pick<FieldOptions, 'name' | 'id' | 'hint' | 'problem'>): Value {
  return [
    problem !== undefined && html`<p class="oops" id="p-${id}">${problem}</p>`,
    hint !== undefined && html`<p class="hint" id="h-${id}">${hint}</p>`,
  ]
}
