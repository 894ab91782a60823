import type { Core, Log } from '@postrider/core'
import { Suspects } from '../queue/suspects.ts'
import type { NextHops } from '../routing/next-hops.ts'
import { BuildTurns } from './build-turns.ts'
import { LargeBodies } from './large-bodies.ts'

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
