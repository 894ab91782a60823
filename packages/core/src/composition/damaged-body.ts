/** Thrown if a stored body is missing, truncated or altered. The message is not sent. */
export class DamagedBody extends Error {
  override readonly name = 'DamagedBody'
}

/** Thrown if nothing of a body is stored, as after its retention period. */
export class MissingBody extends DamagedBody {}
