import Type from 'typebox'

/** Schemas and forms of values that several groups of operations share. */

/** An id as a path, a query or a client that quotes numbers has it; what is none is for the group's own error code. */
export const Id = Type.Union([Type.Integer(), Type.String()])

/** The number, or -1 for what is none. */
export function idOf(id: string | number): number {
  return /^\d{1,10}$/.test(String(id).trim()) ? Number(id) : -1
}

export const Page = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: '10 unless told' })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000 })),
}

/** `2026-01-05 10:11:12`, in UTC. */
export function timeText(at: Date): string {
  return at.toISOString().slice(0, 19).replace('T', ' ')
}
