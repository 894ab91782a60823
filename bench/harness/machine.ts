import { createSign, generateKeyPairSync } from 'node:crypto'
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What the machine could do at a moment: rates of two days are comparable as far as these are. */
export interface MachineFigures {
  /** Appends of 8 kB to a file, each forced to the disk of the database: what bounds commits of one session. */
  readonly syncsPerSecond: number
  /** RSA-2048 signatures by one thread: what a processor does. */
  readonly signaturesPerSecond: number
}

const MEASURE_MS = 500

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })

/** Takes a second, in which nothing else should run. */
export function measureMachine(): MachineFigures {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-bench-machine-'))
  const file = openSync(join(folder, 'appended'), 'w')
  const page = Buffer.alloc(8192, 1)
  try {
    return {
      syncsPerSecond: perSecond(() => {
        writeSync(file, page)
        fdatasyncSync(file)
      }),
      signaturesPerSecond: perSecond(() => void createSign('sha256').update(page).sign(privateKey)),
    }
  } finally {
    closeSync(file)
    rmSync(folder, { recursive: true })
  }
}

function perSecond(act: () => void): number {
  const began = performance.now()
  let times = 0
  for (; performance.now() - began < MEASURE_MS; times++) act()
  return Math.round((times * 1000) / (performance.now() - began))
}
