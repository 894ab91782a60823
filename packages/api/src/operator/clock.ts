import { Type } from 'typebox'
import { type Operation, operation } from './operation.ts'

const NOTHING = Type.Object({})

export const CLOCK: readonly Operation[] = [
  operation({
    name: 'getClock',
    summary: 'Show the time that counts for schedules, retries, expiry and retention',
    cli: 'clock',
    method: 'GET',
    path: '/clock',
    params: NOTHING,
    input: NOTHING,
    act: (_input, { core }) => core.serviceTime.show(),
  }),
  operation({
    name: 'moveClock',
    summary: 'Move this time in a sandbox',
    cli: 'clock advance',
    method: 'POST',
    path: '/clock',
    params: NOTHING,
    input: Type.Object({
      advance: Type.Optional(Type.String({ maxLength: 20, description: 'duration such as 4h' })),
      to: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601 time, or "real" for the world\'s' })),
      speed: Type.Optional(Type.Integer({ description: 'how many times as fast as the world it goes from now on' })),
    }),
    act: (change, { core, by }) => core.serviceTime.move(change, by),
  }),
]
