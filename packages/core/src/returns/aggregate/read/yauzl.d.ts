/** The part of yauzl that is used. */
declare module 'yauzl' {
  export interface Entry {
    readonly compressedSize: number
    readonly uncompressedSize: number
    readonly compressionMethod: number
    readonly crc32: number
    /** With `decodeStrings: false`. */
    readonly fileName: Buffer
    isEncrypted(): boolean
  }
  export interface ZipFile {
    readonly entryCount: number
    readEntry(): void
    on(event: 'entry', listener: (entry: Entry) => void): void
    once(event: 'error', listener: (error: Error) => void): void
    once(event: 'end', listener: () => void): void
    readLocalFileHeader(
      entry: Entry,
      options: { readonly minimal: true },
      done: (error: Error | null, header: { readonly fileDataStart: number }) => void,
    ): void
  }
  export function fromBuffer(
    buffer: Buffer,
    options: { readonly lazyEntries: true; readonly decodeStrings?: boolean },
    done: (error: Error | null, file: ZipFile) => void,
  ): void
}
