import { Writable } from 'node:stream'
import t from 'tap'
import { copyBodies } from '../../../packages/core/src/messages/copy-bodies.ts'
import type { StoredMessage } from '../../../packages/core/src/messages/stored-message.ts'
import type { SqlTransaction } from '../../../packages/core/src/platform/database/database.ts'

const MIB = 1024 * 1024

/** A transaction that takes what it is given at once, as the kernel does, and says how much came in each turn. */
function transactionOf(turns: number[]): SqlTransaction {
  let turn = 0
  let over = false
  const count = (): void => {
    turn++
    if (!over) setImmediate(count)
  }
  setImmediate(count)
  const copy = new Writable({
    write(octets: Buffer, _encoding, done) {
      turns[turn] = (turns[turn] ?? 0) + octets.length
      done()
    },
    final(done) {
      over = true
      done()
    },
  })
  return (() => ({ writable: async () => copy })) as unknown as SqlTransaction
}

function messageOf(pieces: readonly Buffer[]): StoredMessage {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const parts = [{ encoding: '8bit', pieces, length }]
  return { id: '01234567-89ab-7def-8123-456789abcdef', parts } as unknown as StoredMessage
}

for (const [what, pieces] of [
  ['in one piece', [Buffer.alloc(8 * MIB)]],
  ['in pieces as they came', Array.from({ length: 512 }, () => Buffer.alloc(16 * 1024))],
] as const) {
  t.test(`of a body of 8 MiB ${what} no more than 512 KiB leave in one turn`, async (t) => {
    const turns: number[] = []
    await copyBodies(transactionOf(turns), [messageOf(pieces)])
    const all = turns.reduce((sum, octets) => sum + (octets ?? 0), 0)
    t.ok(all > 8 * MIB && all < 8 * MIB + 200, `${all}`)
    const most = Math.max(...turns.filter((octets) => octets !== undefined))
    t.ok(most <= 512 * 1024, `${most} octets in one turn`)
  })
}
