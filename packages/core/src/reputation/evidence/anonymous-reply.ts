/** Characters of a reply that are read, and kept. */
const MAX_READ = 4000
const MAX_KEPT = 500
/** Length from which a local part is also removed inside a word; a shorter one is often part of one. */
const MIN_INSIDE = 4

/**
 * Returns a reply without addresses and without the local part of its recipient, in one line. A word with an @, in any of its usual encodings,
 * is removed as a whole: it may be the address of another recipient, or a return path.
 */
export function anonymousReply(reply: string, recipient: string): string {
  const local = recipient.slice(0, recipient.lastIndexOf('@')).replace(/^"|"$/g, '')
  const names = [local, local.split('+')[0] as string].filter((name) => name !== '')
  const words = withoutCutWord(reply.replace(/[\p{C}\s]/gu, ' ')).split(' ')
  const kept = words.filter((word) => word !== '').map((word) => (hasAddress(word) ? '(address)' : word))
  const text = names.reduce(withoutName, kept.join(' '))
  return text.slice(0, MAX_KEPT)
}

/** Returns the part of a reply that all of its kind have in common: numbers and ids differ. */
export function kindOfReply(reply: string): string {
  return reply
    .split(' ')
    .map((word) => (/[0-9]/.test(word) ? '#' : word))
    .join(' ')
}

/** A word that is cut could be the beginning of an address. */
function withoutCutWord(text: string): string {
  return text.length <= MAX_READ ? text : text.slice(0, text.lastIndexOf(' ', MAX_READ) + 1)
}

function hasAddress(word: string): boolean {
  return /@|＠|%40|=40|&#64;|\(at\)|\[at\]/i.test(word)
}

function withoutName(text: string, name: string): string {
  const [lower, sought] = [text.toLowerCase(), name.toLowerCase()]
  // A letter whose lower case is longer would shift positions.
  if (lower.length !== text.length) return ''
  let [out, from] = ['', 0]
  for (let at = lower.indexOf(sought); at !== -1; at = lower.indexOf(sought, from)) {
    const end = at + sought.length
    const isWord = !isLetter(lower[at - 1]) && !isLetter(lower[end])
    const isRemoved = isWord || sought.length >= MIN_INSIDE
    out += text.slice(from, at) + (isRemoved ? '(recipient)' : text.slice(at, end))
    from = end
  }
  return out + text.slice(from)
}

function isLetter(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}]/u.test(character)
}
