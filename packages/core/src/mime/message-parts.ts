/** What a MIME message holds, decoded: it goes from a thread to whoever asked, so it is data and nothing else. */
export interface MessageParts {
  /** Nothing was left out: it has no more parts, no more parts in parts and no more text than are read. */
  readonly complete: boolean
  /** And the message can be made anew from these without loss (closed.ts). */
  readonly whole: boolean
  /** UTF-8, lines ending with LF; of several texts of a kind, one after the other. */
  readonly html?: Uint8Array
  readonly text?: Uint8Array
  /** Texts beside them that readers choose from: an invitation, AMP. UTF-8. */
  readonly alternatives: readonly { readonly type: string; readonly text: Uint8Array }[]
  readonly files: readonly FoundFile[]
}

export interface FoundFile {
  /** Undefined: it has none. */
  readonly fileName: string | undefined
  /** Lower case, without parameters. */
  readonly type: string
  readonly inline: boolean
  /** Without brackets. */
  readonly contentId: string | undefined
  readonly content: Uint8Array
}
