/** mailauth's own types leave these out. */
declare module 'mailauth/lib/mta-sts.js' {
  interface Policy {
    readonly mode: string
    readonly mx?: readonly string[]
    /** Seconds. */
    readonly maxAge: number
  }
  export function resolvePolicy(
    domain: string,
    options: { strict: boolean; resolver: (name: string, type: string) => Promise<string[][]> },
  ): Promise<string | false>
  export function parsePolicy(file: Buffer, options: { strict: boolean }): Policy
  export function validateMx(host: string, policy: { mode: string; mx: readonly string[] }): { valid: boolean }
}
