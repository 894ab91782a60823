/** Characters of a text that is searched: each try reads as much. */
const MAX_SEARCHED = 64 * 1024

/** Returns where a text stops being JSON, as line and column from 1; its end if more was expected or if it is long. */
export function jsonProblem(text: string): { readonly line: number; readonly column: number } {
  const message = messageOf(text)
  const named = /at position (\d{1,9})/.exec(message)
  const at = named ? Number(named[1]) : isToken(message) && text.length <= MAX_SEARCHED ? firstToken(text) : text.length
  return placeAt(text, at)
}

export function placeAt(text: string, at: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, at)
  return { line: before.split('\n').length, column: at - (before.lastIndexOf('\n') + 1) + 1 }
}

/** V8 names the position of each error, except of a token that cannot stand where it does. */
function isToken(message: string): boolean {
  return message.startsWith('Unexpected token')
}

/** The longest beginning of the text without that token ends before it. */
function firstToken(text: string): number {
  let [without, withIt] = [0, text.length]
  while (withIt - without > 1) {
    const middle = (without + withIt) >> 1
    if (isToken(messageOf(text.slice(0, middle)))) withIt = middle
    else without = middle
  }
  return withIt - 1
}

function messageOf(text: string): string {
  try {
    JSON.parse(text)
    return ''
  } catch (error) {
    return (error as Error).message
  }
}
