import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'

/** Below the kernel's range for outgoing connections, which would take one now and then. */
const FIRST = 10_000
const BLOCK = 20
const BLOCKS = 1095
/** The only one of these that fetch, as browsers, refuses to ask ("bad port"). */
const REFUSED = 10_080

/** Blocks are taken in the order of their numbers, which each run of tests begins elsewhere. */
let block = -1
let left: number[] = []

/** Free ports. Of the processes of a run, no two are given the same before all blocks were taken once. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = []
  while (ports.length < count) {
    if (left.length === 0) left = takeBlock()
    const port = left.shift() as number
    if (port !== REFUSED && (await isFree(port))) ports.push(port)
  }
  return ports
}

/** A port that one process found free, another would find free as well until it is listened on. A folder can be made only once. */
function takeBlock(): number[] {
  const folder = process.env.TEST_FOLDER
  const start = folder ? process.ppid : process.pid
  do block++
  while (folder && !isOurs(join(folder, `ports-${block}`)))
  const first = FIRST + ((start + block) % BLOCKS) * BLOCK
  return Array.from({ length: BLOCK }, (_, n) => first + n)
}

function isOurs(folder: string): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
