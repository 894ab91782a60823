import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** The first octets of a file, at most so many. For threads: it waits for the disk. */
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
