/** Length from which a part of an address is removed from a reply; the texts of rules are longer. */
const MIN_QUOTED = 4

/**
 * The text of a reply without the recipient that it quotes. Anybody may choose an address or a domain that contains the text of a rule; and what is
 * stored of the reply is kept longer than the data of the recipient.
 */
export function withoutRecipient(reply: string, recipient: string): string {
  const at = recipient.lastIndexOf('@')
  const quoted = [recipient, recipient.slice(0, at), recipient.slice(at + 1)]
  return quoted.reduce((left, part) => (part.length < MIN_QUOTED ? left : without(left, part)), reply)
}

/** Regardless of case. */
function without(text: string, part: string): string {
  const lower = text.toLowerCase()
  // Some letters have a lower case of another length.
  if (lower.length !== text.length) return without(lower, part)
  const quoted = part.toLowerCase()
  const pieces = lower.split(quoted)
  let at = 0
  const kept = pieces.map((piece) => {
    const own = text.slice(at, at + piece.length)
    at += piece.length + quoted.length
    return own
  })
  return kept.join('…')
}
