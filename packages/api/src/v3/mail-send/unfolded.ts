/**
 * Returns a header's value with a space for each of its folds (RFC 5322 2.2.3): Symfony's mailer sends values as they are written in a message. Other line ends
 * stay, and are refused.
 */
export function unfolded(value: string): string {
  return value.replace(/\r?\n[ \t]/g, ' ')
}
