declare module 'html-to-text' {
  export interface ConvertOptions {
    readonly wordwrap?: number | false
    readonly limits?: { readonly maxInputLength?: number; readonly maxDepth?: number }
  }
  export function convert(html: string, options?: ConvertOptions): string
}
