import { BeyondShare } from '@postrider/core'
import type { FastifyRequest } from 'fastify'
import { JsonError, newCount } from '../../http/strict-json.ts'
import { isUnchosen, PART_VALUES, textOf } from '../../v2/body/bodies.ts'
import { addField, type FormField, formFields } from '../../v2/body/form.ts'
import { boundaryOf, MultipartError, type Part, partsOf } from '../../v2/body/multipart.ts'

export const FORM_TYPES = ['multipart/form-data', 'application/x-www-form-urlencoded'] as const

/** The contents of a form. */
export interface Form {
  /** Values by name, without the brackets of lists: `to`, `to[]` and `to[1]` are one list. */
  readonly values: ReadonlyMap<string, readonly string[]>
  /** Octets by name: `files[a.txt]`. */
  readonly files: readonly { readonly fileName: string; readonly content: Buffer }[]
  /** `content[a.txt]`: the id by which the HTML shows the file. */
  readonly contentIds: ReadonlyMap<string, string>
}

/**
 * Reads the body. `isShared`: other calls wait meanwhile. Throws MultipartError, JsonError, tooLarge, jsonInvalid, and BeyondShare for a form of many fields.
 */
export function readForm({ octets = Buffer.alloc(0), headers }: FastifyRequest, isShared: boolean): Form {
  const type = headers['content-type'] ?? ''
  const { share } = newCount(isShared)
  const values = new Map<string, string[]>()
  const files: { fileName: string; content: Buffer }[] = []
  const contentIds = new Map<string, string>()
  const put = (name: string, text: string): void => {
    const [, list = name, key = ''] = /^([\w-]{1,20})\[([^\]]*)\]$/.exec(name) ?? []
    if (list === 'files') files.push({ fileName: key, content: Buffer.from(text) })
    else if (list === 'content' && key !== '') contentIds.set(key, text)
    else {
      const known = values.get(list)
      if (known) known.push(text)
      else values.set(list, [text])
    }
  }
  if (isMultipart(type)) {
    const fields: FormField[] = []
    for (const part of partsIn(octets, type)) {
      const { name, fileName, octets: content } = part
      if ((fields.length + files.length) * PART_VALUES >= share) throw new BeyondShare()
      if (fileName === undefined) addField(fields, name, textIn(part))
      else if (!isUnchosen(part)) files.push({ fileName: /^files\[([^\]]+)\]$/.exec(name)?.[1] ?? fileName, content })
    }
    for (const [name, text] of fields) put(name, text)
  } else for (const [name, text] of formFields(textOf(octets, 'utf-8'), share)) put(name, text)
  return { values, files, contentIds }
}

/** Throws MultipartError, which names the field. */
function textIn({ name, charset, octets }: Part): string {
  try {
    return textOf(octets, charset)
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    throw new MultipartError(`${name.slice(0, 100)}: is not valid ${charset.slice(0, 40)}`)
  }
}

/** The key in a form that was not read yet. Found by the search of buffers: 30 MB take some ms. */
export function keyIn({ octets = Buffer.alloc(0), headers }: FastifyRequest): string | undefined {
  const type = headers['content-type'] ?? ''
  return isMultipart(type) ? keyInParts(octets, type) : keyInPairs(octets)
}

/** Longer ones are no keys. */
const MAX_KEY_LENGTH = 200
/** Octets of a part's header, with a key behind it. */
const MAX_HEAD_LENGTH = 300
/** Parts that are looked at; the key of SendGrid's clients is the last one. */
const MAX_PARTS = 20_000
/** The whole line: in the name of a file, which others may have chosen, the words would be no key. */
const KEY_PART = /^content-disposition: ?form-data; ?name="?api_key"?$/i

function keyInParts(octets: Buffer, type: string): string | undefined {
  const boundary = boundaryOf(type)
  if (boundary === undefined) return undefined
  const delimiter = Buffer.from(`\r\n--${boundary}\r\n`)
  const isFirst = octets.subarray(0, delimiter.length - 2).equals(delimiter.subarray(2))
  let at = isFirst ? -2 : octets.indexOf(delimiter)
  for (let parts = 0; at !== -1 && parts < MAX_PARTS; parts++) {
    const start = at + delimiter.length
    const text = octets.toString('latin1', start, start + MAX_HEAD_LENGTH + MAX_KEY_LENGTH)
    const blank = text.indexOf('\r\n\r\n')
    const head = text.slice(0, Math.max(0, blank)).split('\r\n')
    if (head.some((line) => KEY_PART.test(line))) {
      return (
        text
          .slice(blank + 4)
          .split('\r\n', 1)[0]
          ?.trim() || undefined
      )
    }
    at = octets.indexOf(delimiter, start)
  }
  return undefined
}

function keyInPairs(octets: Buffer): string | undefined {
  const name = 'api_key='
  const isFirst = octets.toString('latin1', 0, name.length) === name
  const at = isFirst ? -1 : octets.indexOf(`&${name}`)
  if (at === -1 && !isFirst) return undefined
  const start = at + 1 + name.length
  const [written = ''] = octets.toString('latin1', start, start + MAX_KEY_LENGTH).split('&', 1)
  return formFields(`key=${written}`)[0]?.[1].trim() || undefined
}

function isMultipart(type: string): boolean {
  return /^multipart\//i.test(type.trim())
}

function* partsIn(octets: Buffer, type: string) {
  const boundary = boundaryOf(type)
  if (boundary === undefined) throw new MultipartError('Content-Type has no boundary')
  yield* partsOf(octets, boundary)
}
