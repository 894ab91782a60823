/** Says of a record that {@link readTagList} does not read, what is wrong. */
export const TAG_TWICE = 'a tag occurs twice, for which receivers ignore the record'

/**
 * The tags of a tag-list (RFC 6376 3.2), without the blanks around names and values. Undefined if a name occurs twice, for which the whole list is invalid.
 */
export function readTagList(text: string): ReadonlyMap<string, string> | undefined {
  const tags = new Map<string, string>()
  for (const tag of text.split(';')) {
    const [name = '', ...value] = tag.split('=')
    const key = name.trim()
    if (key === '') continue
    if (tags.has(key)) return undefined
    tags.set(key, value.join('=').trim())
  }
  return tags
}
