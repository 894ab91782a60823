/** The decoded parts of a MIME message. Plain data, because it is sent between threads. */
export interface MessageParts {
  /** Whether everything was read: no limit on parts, nesting or text was exceeded. */
  readonly complete: boolean
  /** Whether the message can also be rebuilt from these parts without loss (closed.ts). */
  readonly whole: boolean
  /** UTF-8, with LF as line end; several texts of one type are concatenated. */
  readonly html?: Uint8Array
  readonly text?: Uint8Array
  /** Other alternatives that mail readers can choose: a calendar invitation, AMP. UTF-8. */
  readonly alternatives: readonly { readonly type: string; readonly text: Uint8Array }[]
  readonly files: readonly FoundFile[]
}

export interface FoundFile {
  /** Undefined if the file has no name. */
  readonly fileName: string | undefined
  /** Lower case, without parameters. */
  readonly type: string
  readonly inline: boolean
  /** Without angle brackets. */
  readonly contentId: string | undefined
  readonly content: Uint8Array
}
