/** Lists and objects in each other that test data may have, as a call that sends: what copies, renders or writes them goes as deep. */
export const MAX_NESTED = 64

/** Returns where JSON has more lists and objects in each other than that; undefined if it has not. */
export function tooDeepAt(json: string): number | undefined {
  let depth = 0
  let isText = false
  for (let at = 0; at < json.length; at++) {
    const sign = json[at]
    if (sign === '"') isText = !isText
    else if (isText) at += sign === '\\' ? 1 : 0
    else if (sign === '[' || sign === '{') {
      if (++depth > MAX_NESTED) return at
    } else if (sign === ']' || sign === '}') depth--
  }
  return undefined
}
