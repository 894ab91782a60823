import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** Reads up to `most` bytes from the start of a file. Synchronous, for use in threads. */
export function readBeginning(file: string, most: number): Buffer {
  const descriptor = openSync(file, 'r')
  try {
    const octets = Buffer.alloc(Math.min(most, fstatSync(descriptor).size))
    readSync(descriptor, octets)
    return octets
  } finally {
    closeSync(descriptor)
  }
}
