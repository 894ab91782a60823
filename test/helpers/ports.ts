import { createServer } from 'node:net'

/** Free ports below the kernel's range for outgoing connections, which would take one now and then. Each run of tests starts elsewhere. */
let next = 10_000 + (process.pid % 200) * 100

export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = []
  while (ports.length < count) {
    const port = next++
    if (next > 31_900) next = 10_000
    if (await isFree(port)) ports.push(port)
  }
  return ports
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
