declare module 'html-to-text' {
  /** An element of the document. */
  export interface Element {
    readonly children: readonly unknown[]
    readonly attribs: { readonly alt?: string }
  }
  export interface BlockTextBuilder {
    addInline(text: string): void
    openBlock(options?: { readonly leadingLineBreaks?: number }): void
    closeBlock(options?: { readonly trailingLineBreaks?: number }): void
  }
  export type Formatter = (
    element: Element,
    walk: (children: readonly unknown[], builder: BlockTextBuilder) => void,
    builder: BlockTextBuilder,
  ) => void
  export interface Selector {
    readonly selector: string
    /** The name of a formatter, own or built in. */
    readonly format?: string
    readonly options?: { readonly uppercase?: boolean; readonly hideLinkHrefIfSameAsText?: boolean }
  }
  export interface ConvertOptions {
    readonly wordwrap?: number | false
    /** Options of elements that the selector matches. */
    readonly selectors?: readonly Selector[]
    readonly formatters?: Readonly<Record<string, Formatter>>
    readonly limits?: { readonly maxInputLength?: number; readonly maxDepth?: number }
  }
  export function convert(html: string, options?: ConvertOptions): string
}
