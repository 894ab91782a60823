import { SaxesParser } from 'saxes'

/** An answer to ListObjectsV2. */
export interface ObjectList {
  readonly keys: readonly string[]
  /** Whether there are further keys. */
  readonly isTruncated: boolean
}

/** Reads the XML of a list of objects; undefined if it is something else. */
export function readObjectList(xml: string): ObjectList | undefined {
  const keys: string[] = []
  const path: string[] = []
  let isList = false
  let isTruncated = false
  let text = ''
  const parser = new SaxesParser()
  parser.on('doctype', () => parser.fail('a list of objects has no document type'))
  parser.on('opentag', ({ name }) => {
    path.push(name)
    isList ||= path.length === 1 && name === 'ListBucketResult'
    text = ''
  })
  parser.on('text', (more) => {
    text += more
  })
  parser.on('closetag', () => {
    const element = path.slice(1).join('/')
    if (element === 'Contents/Key') keys.push(text)
    if (element === 'IsTruncated') isTruncated = text.trim() === 'true'
    path.pop()
  })
  try {
    parser.write(xml).close()
  } catch {
    return undefined
  }
  return isList ? { keys, isTruncated } : undefined
}
