/** The readers of messages, for threads that show them: much less than all of core. */
export { type Decoder, decoderNamed } from './charset.ts'
export { parametersField } from './conformance/ascii-field.ts'
export { type Edit, edited } from './conformance/edits.ts'
export { meantEncoding } from './conformance/transfer-encoding.ts'
export { decodeText, isPlain, isPlainText } from './decode-text.ts'
export { base64Lines } from './encode.ts'
export { splitFields } from './end-of-field.ts'
export { parameterText } from './parameters.ts'
export {
  Heads,
  isAttachment,
  MAX_DEPTH,
  MAX_PARTS,
  type PartField,
  type PartHead,
  parseField,
  partsOf,
} from './read.ts'
export { readQuotedPrintable, transferEncodingOf } from './transfer.ts'
export { decodeWords } from './words.ts'
