import { createSocket, type Socket } from 'node:dgram'
import { connect, isIPv6 } from 'node:net'

/** A resolver, by its IP address. */
export interface ResolverAddress {
  readonly address: string
  readonly port: number
}

/** Checks a response: undefined if it does not belong to the query. */
export type Accept<T> = (packet: Buffer) => T | undefined

/** Milliseconds of one exchange. */
const EXCHANGE_MS = 3000
/** Datagrams that do not belong to the query, after which the exchange fails: they come from a host that guesses. */
const MAX_STRAY = 16
const LENGTH_BYTES = 2

/**
 * Sends a query over UDP, from a port that the operating system chooses at random, and returns the response that `accept` takes. Only
 * datagrams of the resolver's address and port are read. Rejects after 3 seconds.
 */
export function overUdp<T>({ address, port }: ResolverAddress, query: Buffer, accept: Accept<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const socket: Socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4')
    let strays = 0
    let isOver = false
    const timer = setTimeout(() => end(() => reject(new Error('no response within 3 s'))), EXCHANGE_MS)
    function end(act: () => void): void {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      socket.close()
      act()
    }
    socket.on('error', (error: NodeJS.ErrnoException) => end(() => reject(new Error(error.code ?? error.message))))
    socket.on('message', (packet) => {
      const accepted = accept(packet)
      if (accepted !== undefined) return end(() => resolve(accepted))
      if (++strays >= MAX_STRAY) end(() => reject(new Error('too many responses that do not match the query')))
    })
    socket.connect(port, address, (error?: Error) => {
      if (isOver) return
      if (error) return end(() => reject(error))
      socket.send(query, (failed) => {
        if (failed) end(() => reject(failed))
      })
    })
  })
}

/** The same over TCP (RFC 7766), for responses that a datagram has no room for: at most 64 KiB, which the length field bounds. */
export function overTcp<T>({ address, port }: ResolverAddress, query: Buffer, accept: Accept<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, noDelay: true })
    const timer = setTimeout(() => fail('no response within 3 s'), EXCHANGE_MS)
    const chunks: Buffer[] = []
    let size = 0
    let wanted: number | undefined
    function fail(reason: string): void {
      clearTimeout(timer)
      socket.destroy()
      reject(new Error(reason))
    }
    socket.on('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.message))
    socket.on('close', () => fail('the resolver closed the connection'))
    socket.on('connect', () => {
      const length = Buffer.alloc(LENGTH_BYTES)
      length.writeUInt16BE(query.length)
      socket.write(Buffer.concat([length, query]))
    })
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      size += chunk.length
      if (wanted === undefined && size >= LENGTH_BYTES) wanted = Buffer.concat(chunks).readUInt16BE(0)
      if (wanted === undefined || size < LENGTH_BYTES + wanted) return
      const accepted = accept(Buffer.concat(chunks).subarray(LENGTH_BYTES, LENGTH_BYTES + wanted))
      if (accepted === undefined) return fail('the response does not match the query')
      clearTimeout(timer)
      socket.destroy()
      resolve(accepted)
    })
  })
}
