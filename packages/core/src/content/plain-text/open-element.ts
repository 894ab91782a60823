import type { ElementKind } from './elements.ts'

/** An element whose style applies to all that is in it, while it is read: its end tag may be missing. */
export class OpenElement {
  readonly #name: string
  /** Number of open elements in it by name, with itself. */
  readonly #open = new Map<string, number>()

  constructor(name: string) {
    this.#name = name
    this.open(name)
  }

  open(name: string): void {
    this.#open.set(name, (this.#open.get(name) ?? 0) + 1)
  }

  /** Returns whether the beginning of this element ends the open one, whose end tag may be left out. */
  isEndedBy(name: string, kind: ElementKind | undefined): boolean {
    if (this.#name === 'p') return kind !== undefined && kind.breaks > 0
    if (this.#name === 'li') return name === 'li' && !this.#has('ul') && !this.#has('ol')
    if (this.#has('table')) return false
    if (this.#name === 'td' || this.#name === 'th') return name === 'td' || name === 'th' || name === 'tr'
    return this.#name === 'tr' && name === 'tr'
  }

  /** Notes an end tag. Returns whether it ends the open element: it is its own, or that of an element around it. */
  close(name: string, kind: ElementKind | undefined): 'own' | 'outer' | 'no' {
    const open = this.#open.get(name) ?? 0
    if (open > 0) this.#open.set(name, open - 1)
    if (name === this.#name) return open <= 1 ? 'own' : 'no'
    // A paragraph's end tag alone is a paragraph.
    const isBlock = kind !== undefined && kind.role !== 'paragraph' && (kind.breaks > 0 || kind.role === 'cell')
    return open === 0 && isBlock ? 'outer' : 'no'
  }

  #has(name: string): boolean {
    return (this.#open.get(name) ?? 0) > 0
  }
}
