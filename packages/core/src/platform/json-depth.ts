/** Returns where JSON has more than `most` lists and objects in each other, without parsing it; undefined if it has not. */
export function tooDeepAt(json: string, most: number): number | undefined {
  let depth = 0
  let isText = false
  for (let at = 0; at < json.length; at++) {
    const sign = json[at]
    if (sign === '"') isText = !isText
    else if (isText) at += sign === '\\' ? 1 : 0
    else if (sign === '[' || sign === '{') {
      if (++depth > most) return at
    } else if (sign === ']' || sign === '}') depth--
  }
  return undefined
}
