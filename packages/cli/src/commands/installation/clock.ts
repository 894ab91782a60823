import type { ServiceTime, TimeChange } from '@postrider/core'
import { type Answer, type Command, UsageError } from '../../command.ts'
import { spanText } from '../../doctor/check-result.ts'
import { coreCommand } from '../core-command.ts'

const SANDBOX = 'Only with DELIVERY=sandbox. Returns when all processes have the time'

export const clockCommands: readonly Command[] = [
  coreCommand({
    name: 'clock',
    usage: '',
    summary: 'Show the time that counts for schedules, retries, expiry and retention',
    run: async ({ serviceTime }) => toAnswer(await serviceTime.show()),
  }),
  coreCommand({
    name: 'clock advance',
    usage: 'DURATION',
    summary: 'Move the time of a sandbox on',
    detail: SANDBOX,
    parameters: { DURATION: 'For example 90s, 30m, 4h or 7d' },
    examples: ['clock advance 4h'],
    run: async ({ serviceTime }, { DURATION }) => toAnswer(await serviceTime.move({ advance: DURATION })),
  }),
  coreCommand({
    name: 'clock set',
    usage: 'MOMENT',
    summary: 'Set the time of a sandbox',
    detail: `${SANDBOX}. The time does not go back behind the newest message or event`,
    parameters: { MOMENT: 'ISO 8601, or real for the time of the world' },
    examples: ['clock set 2026-12-24T09:00:00Z', 'clock set real'],
    run: async ({ serviceTime }, { MOMENT }) => toAnswer(await serviceTime.move({ to: MOMENT })),
  }),
  coreCommand({
    name: 'clock run',
    usage: 'SPEED',
    summary: 'Let the time of a sandbox go faster than that of the world',
    detail: SANDBOX,
    parameters: { SPEED: 'How many times as fast: 1 to 1000' },
    examples: ['clock run 60'],
    run: async ({ serviceTime }, { SPEED }) => toAnswer(await serviceTime.move(speedOf(SPEED))),
  }),
]

function speedOf(text: string): TimeChange {
  if (!/^\d{1,4}$/.test(text)) throw new UsageError(`the speed must be a whole number from 1 to 1000 (got "${text}")`)
  return { speed: Number(text) }
}

function toAnswer(time: ServiceTime): Answer {
  const { now, ahead, speed } = time
  const way = ahead < 0 ? 'behind' : 'ahead of'
  const place = ahead === 0 ? 'as in the world' : `${spanText(Math.abs(ahead))} ${way} the world`
  const pace = speed === 1 ? '' : `, ${speed} times as fast`
  return { data: time, text: `${now.toISOString()} (${place}${pace})` }
}
