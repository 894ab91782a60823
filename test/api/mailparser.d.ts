/** What the tests use of mailparser, which brings no types of its own. */
declare module 'mailparser' {
  interface AddressList {
    readonly value: readonly { readonly address?: string; readonly name: string }[]
    readonly text: string
  }

  export interface ParsedMail {
    readonly headers: ReadonlyMap<string, unknown>
    readonly from?: AddressList
    readonly to?: AddressList
    readonly cc?: AddressList
    readonly replyTo?: AddressList
    readonly subject?: string
    readonly messageId?: string
    readonly html: string | false
    readonly text?: string
    readonly attachments: readonly {
      readonly filename?: string
      readonly content: Buffer
      readonly contentType: string
    }[]
  }

  export function simpleParser(source: Buffer | string): Promise<ParsedMail>
}
