declare module 'mailauth/lib/tools.js' {
  /** The entry of the list with the same organizational domain; false if there is none. */
  export function getAlignment(domain: string, list: readonly string[]): { readonly domain: string } | false
}
