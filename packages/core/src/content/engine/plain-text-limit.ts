/** Maximum number of characters of HTML that plain text is made from. Apart from plain-text.ts, which only threads import. */
export const MOST_CONVERTED = 256 * 1024
