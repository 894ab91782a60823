import { type Html, html, NOTHING, type Value } from '@postrider/ui'
import { lexer, type Token, type Tokens } from 'marked'

/** A heading of a guide. */
export interface Heading {
  readonly id: string
  readonly text: string
  readonly depth: number
}

export interface Markdown {
  readonly body: Html
  /** Without the title. */
  readonly headings: readonly Heading[]
}

/** Where a link or an image of a guide leads on the pages, and the title of that page; undefined: it is shown as text. */
export type Resolve = (target: string) => Target | undefined

export interface Target {
  readonly url: string
  readonly title?: string
}

/**
 * Converts a guide. The parser only divides the text; every piece of HTML is made by the template tag of all pages, so HTML in a guide is
 * shown as text.
 */
export function convert(text: string, resolve: Resolve): Markdown {
  const headings: Heading[] = []
  const nameOf = createNames()
  let samples = 0
  const all = (tokens: readonly Token[] | undefined): Value => (tokens ?? []).map(piece)

  function piece(token: Token): Html {
    switch (token.type) {
      case 'heading':
        return heading(token as Tokens.Heading)
      case 'paragraph':
        return html`<p>${all(token.tokens)}</p>`
      case 'list':
        return list(token as Tokens.List)
      case 'table':
        return table(token as Tokens.Table)
      case 'code':
        return sample(`sample-${++samples}`, String(token.text))
      case 'blockquote':
        return html`<blockquote>${all(token.tokens)}</blockquote>`
      case 'strong':
        return html`<strong>${all(token.tokens)}</strong>`
      case 'em':
        return html`<em>${all(token.tokens)}</em>`
      case 'codespan':
        return html`<code>${String(token.text)}</code>`
      case 'link':
        return link(token as Tokens.Link)
      case 'image':
        return image(token as Tokens.Image)
      case 'br':
        return html`<br>`
      case 'space':
        return NOTHING
      default:
        return 'tokens' in token && token.tokens
          ? html`${all(token.tokens)}`
          : html`${'text' in token ? token.text : ''}`
    }
  }

  function heading({ tokens, depth }: Tokens.Heading): Html {
    const plain = plainText(tokens)
    const id = nameOf(plain)
    if (depth === 1) return html`<h1 id="${id}">${all(tokens)}</h1>`
    headings.push({ id, text: plain, depth })
    // A link within a heading would be within the heading's own.
    const inner = tokens.some(({ type }) => type === 'link') ? all(tokens) : html`<a href="#${id}">${all(tokens)}</a>`
    if (depth === 2) return html`<h2 id="${id}">${inner}</h2>`
    return depth === 3 ? html`<h3 id="${id}">${inner}</h3>` : html`<h4 id="${id}">${inner}</h4>`
  }

  function list({ ordered, items }: Tokens.List): Html {
    const rows = items.map(({ tokens }) => html`<li>${all(tokens)}</li>`)
    return ordered ? html`<ol>${rows}</ol>` : html`<ul>${rows}</ul>`
  }

  function table({ header, rows }: Tokens.Table): Html {
    const label = header.map(({ tokens }) => plainText(tokens)).join(', ')
    const sideOf = ({ align }: Tokens.TableCell) => (align === 'right' ? 'n' : '')
    return html`<div class="scroll" role="group" aria-label="Table: ${label}" tabindex="0"><table><thead><tr>${header.map(
      (cell) => html`<th scope="col" class="${sideOf(cell)}">${all(cell.tokens)}</th>`,
    )}</tr></thead><tbody>${rows.map(
      (row) => html`<tr>${row.map((cell) => html`<td class="${sideOf(cell)}">${all(cell.tokens)}</td>`)}</tr>`,
    )}</tbody></table></div>`
  }

  function link({ href, tokens }: Tokens.Link): Html {
    const target = resolve(href)
    if (target === undefined) return html`${all(tokens)}`
    // In the repository a page is called by its file.
    const inner = target.title !== undefined && plainText(tokens).endsWith('.md') ? target.title : all(tokens)
    return html`<a href="${target.url}">${inner}</a>`
  }

  function image({ href, text }: Tokens.Image): Html {
    const target = resolve(href)
    return target === undefined ? html`${text}` : html`<img src="${target.url}" alt="${text}" loading="lazy">`
  }

  const body = html`${all(lexer(text))}`
  return { body, headings }
}

/** A sample that can be copied. The id must be the only one of the page. */
export function sample(id: string, text: string): Html {
  return html`<div class="code"><pre id="${id}" tabindex="0">${text}</pre>
    <button class="btn s copy" type="button" data-copy-from="${id}" aria-label="Copy the example">Copy</button></div>`
}

/** The text of inline tokens, without their marks. */
export function plainText(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if ('tokens' in token && token.tokens) return plainText(token.tokens)
      return 'text' in token ? String(token.text) : ''
    })
    .join('')
}

/** Returns a function that names headings as GitHub does, so links work in both places: repeated ones get -1, -2. */
export function createNames(): (heading: string) => string {
  const used = new Map<string, number>()
  return (heading) => {
    const name = [...heading.trim().toLowerCase()]
      .map((sign) => (sign === ' ' ? '-' : isKept(sign) ? sign : ''))
      .join('')
    const times = used.get(name) ?? 0
    used.set(name, times + 1)
    return times === 0 ? name : `${name}-${times}`
  }
}

function isKept(sign: string): boolean {
  return sign === '-' || sign === '_' || (sign >= '0' && sign <= '9') || sign.toLowerCase() !== sign.toUpperCase()
}
