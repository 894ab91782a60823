import type { Stage } from './stage.ts'

/** The processes that meet outside text. */
export type Door = 'api' | 'relay' | 'worker' | 'sandbox'
export const DOORS: readonly Door[] = ['api', 'relay', 'worker', 'sandbox']

/** A costly input: what is sent to which process, and what became of it. */
export interface Row {
  readonly door: Door
  readonly name: string
  /** Also in `npm test`, which has no time for all. */
  readonly quick?: true
  /** Milliseconds of processor time of a turn at most, where it is not the bound of the door. */
  readonly most?: number
  /** The inputs that it sends, one after another; one unless told. */
  readonly inputs?: number
  /** Answers what the client was told. Octets are counted by the stage's own calls. */
  attack(stage: Stage): Promise<string>
}

/** Rows of one door. */
export function rowsOf(
  door: Door,
  attacks: Readonly<Record<string, Row['attack']>>,
  quick: readonly string[] = [],
): readonly Row[] {
  const unknown = quick.filter((name) => !Object.hasOwn(attacks, name))
  if (unknown.length > 0) throw new Error(`there is no row ${unknown.join(', ')}`)
  return Object.entries(attacks).map(([name, attack]) => ({
    door,
    name,
    attack,
    ...(quick.includes(name) ? { quick: true as const } : {}),
  }))
}
