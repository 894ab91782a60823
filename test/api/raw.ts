import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Test } from 'tap'
import { until } from '../helpers/until.ts'

/** A connection to the API on which a test says whatever it likes. */
export interface RawConnection {
  readonly socket: Socket
  /** All that was answered so far. */
  readonly text: string
  readonly closed: boolean
  /** The status of each answer so far. */
  readonly statuses: number[]
  send(octets: string | Buffer): Promise<void>
}

export async function openRaw(t: Test, base: string): Promise<RawConnection> {
  const { hostname: host, port } = new URL(base)
  const socket = connect({ host, port: Number(port) })
  let text = ''
  let closed = false
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
  })
  socket.on('error', () => {})
  socket.once('close', () => {
    closed = true
  })
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  return {
    socket,
    get text() {
      return text
    },
    get closed() {
      return closed
    },
    get statuses() {
      return Array.from(text.matchAll(/HTTP\/1\.1 (\d{3}) [A-Z]/g), ([, status]) => Number(status))
    },
    // What is sent to a connection that the server has closed is lost; the test sees it by what was answered.
    send: (octets) => new Promise((resolve) => socket.write(octets, () => resolve())),
  }
}

/** Says this on a connection of its own, and waits until the server has closed it. */
export async function sayAndWait(
  t: Test,
  base: string,
  octets: string | Buffer,
  within?: number,
): Promise<RawConnection> {
  const connection = await openRaw(t, base)
  await connection.send(octets)
  await until(`the end of the connection after ${octets.toString().slice(0, 60)}`, () => connection.closed, within)
  return connection
}
