import type { ElementKind } from './elements.ts'
import { OpenElement } from './open-element.ts'
import type { Space, Style } from './style.ts'

interface Styled {
  readonly element: OpenElement
  readonly isTiny: boolean
  readonly space: Space
}

/** Maximum number of them; the styles of those within are ignored. */
const MAX_STYLED = 64

/** The open elements whose style changes how the text in them is shown. */
export class StyledElements {
  readonly #open: Styled[] = []

  /** Whether letters have no size. */
  get isTiny(): boolean {
    return this.#open.at(-1)?.isTiny ?? false
  }

  get space(): Space {
    return this.#open.at(-1)?.space ?? 'normal'
  }

  /** Notes the beginning of an element that is not void. */
  begin(name: string, kind: ElementKind | undefined, { isTiny, space }: Style): void {
    while (this.#open.at(-1)?.element.isEndedBy(name, kind)) this.#open.pop()
    const outer = this.#open.at(-1)
    const changed = { isTiny: isTiny ?? this.isTiny, space: space ?? this.space }
    if (this.#open.length < MAX_STYLED && (changed.isTiny !== this.isTiny || changed.space !== this.space)) {
      this.#open.push({ element: new OpenElement(name), ...changed })
    } else outer?.element.open(name)
  }

  /** Notes an end tag. */
  end(name: string, kind: ElementKind | undefined): void {
    let ended = this.#open.at(-1)?.element.close(name, kind)
    while (ended === 'outer') {
      this.#open.pop()
      ended = this.#open.at(-1)?.element.close(name, kind)
    }
    if (ended === 'own') this.#open.pop()
  }
}
