// Generated from the operations of the v2 API by `npm run docs`. Edit those, not this file.
import type { Call, CallOptions } from '../call.ts'

export interface Attachment {
  readonly attachmentId: number
  readonly fileName: string
  /** octets */
  readonly size: number
  readonly createdAt: string
}

export interface UploadAttachmentInput {
  readonly fileName?: string | null | undefined
  /** base64; at most 20,480,000 bytes decoded */
  readonly fileContent?: string | null | undefined
}

export type UploadAttachmentData = Attachment

export interface ListAttachmentsInput {
  /** at most 100; default 10 */
  readonly limit?: number | string | null | undefined
  /** number of rows to skip; default 0 */
  readonly offset?: number | string | null | undefined
}

export type ListAttachmentsData = readonly Attachment[]

export interface DeleteAttachmentInput {
  readonly attachmentId: number | string
}

export type DeleteAttachmentData = Readonly<Record<string, unknown>>

export class Attachments {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Upload a file for use by attachmentId, as JSON or as one file part of multipart/form-data. Needs the scope attachments. */
  upload(input: UploadAttachmentInput = {}, options?: CallOptions): Promise<UploadAttachmentData> {
    return this.#call({ method: 'POST', path: '/attachment' }, input, options)
  }

  /** List the stored files, oldest first. Needs the scope attachments. */
  list(input: ListAttachmentsInput = {}, options?: CallOptions): Promise<ListAttachmentsData> {
    return this.#call({ method: 'GET', path: '/attachment' }, input, options)
  }

  /** Delete a stored file. Accepted messages keep their copy. Needs the scope attachments. */
  delete(input: DeleteAttachmentInput, options?: CallOptions): Promise<DeleteAttachmentData> {
    return this.#call({ method: 'DELETE', path: '/attachment/:attachmentId' }, input, options)
  }
}
