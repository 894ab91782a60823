import type { Core, Log } from '@postrider/core'
import { Suspects } from '../common/suspects.ts'
import { BuildTurns } from '../message/build-turns.ts'
import { LargeBodies } from '../message/large-bodies.ts'
import type { NextHops } from '../routing/next-hops.ts'

/** When the messages of this worker's deliveries are loaded and built. */
export interface Building {
  readonly bodies: LargeBodies
  readonly suspects: Suspects
  readonly turns: BuildTurns
}

export function createBuilding(options: {
  readonly core: Core
  readonly log: Log
  readonly workerId: number
  readonly nextHops: NextHops
}): Building {
  return {
    bodies: new LargeBodies(options.core, { single: options.nextHops.mainDestination !== undefined }),
    suspects: new Suspects(options),
    turns: new BuildTurns(),
  }
}
