import { decoderNamed } from '@postrider/core/mime'
import iconv from 'iconv-lite'

const MAX_NAME = 60

/** Whether mailparser, which decodes by iconv-lite, knows a charset. UTF-16 it reads in one order of octets only. */
export function isRead(name: string): boolean {
  return name.length <= MAX_NAME && iconv.encodingExists(name) && !decoderNamed(name)?.encoding.startsWith('utf-16')
}

export function isKnown(name: string): boolean {
  return isRead(name) || decoderNamed(name) !== undefined
}
