/** Maximum number of characters of HTML that plain text is made from. Apart from plain-text.ts, which only threads import. */
export const MAX_CONVERTED_LENGTH = 256 * 1024
