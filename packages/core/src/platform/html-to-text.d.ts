declare module 'html-to-text' {
  export interface ConvertOptions {
    readonly wordwrap?: number | false
    /** Options of elements that the selector matches. */
    readonly selectors?: readonly { readonly selector: string; readonly options: { readonly uppercase: boolean } }[]
    readonly limits?: { readonly maxInputLength?: number; readonly maxDepth?: number }
  }
  export function convert(html: string, options?: ConvertOptions): string
}
