import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { withPostgres } from '../helpers/postgres-server.ts'
import { recordOpen } from './recorded/open-calls.ts'
import { recordOperator } from './recorded/operator-calls.ts'
import { createRecorder, type Recorded, type Recorder } from './recorded/recorder.ts'
import { recordV2 } from './recorded/v2-calls.ts'
import { recordV2Mail } from './recorded/v2-mail.ts'
import { recordV3 } from './recorded/v3-calls.ts'
import { recordV3Mail } from './recorded/v3-mail.ts'
import { makeWorld, type World } from './recorded/world.ts'

/** The answers to one part of the fixed sequence of calls. */
export interface Part {
  readonly file: string
  readonly text: string
  readonly calls: readonly Recorded[]
}

const JSON_ANSWER = { 'content-type': 'application/json; charset=utf-8', 'content-length': '<length>' }
const CALL = { ...JSON_ANSWER, connection: 'close' }
const LIMITED = {
  ...CALL,
  'x-ratelimit-limit': '100000',
  'x-ratelimit-remaining': '<number>',
  'x-ratelimit-reset': '<number>',
}
const SHARED = { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'Link, Location' }
const OWN = {
  'access-control-allow-origin': 'https://go.relay.test',
  'x-no-cors-reason': 'https://go.relay.test/docs',
}

const SHOWN_ANSWERS = new URL('../../packages/api/src/docs/recorded/', import.meta.url)
const OTHER_ANSWERS = new URL('recorded/answers/', import.meta.url)

interface PartMaker {
  readonly name: string
  /** The pages of /docs show answers of it. */
  readonly shown?: true
  /** Headers of most answers, which the record does not repeat. */
  readonly usual: Readonly<Record<string, string>>
  readonly act: (recorder: Recorder, world: World) => Promise<void>
}

const PARTS: readonly PartMaker[] = [
  { name: 'v2-mail', usual: CALL, act: recordV2Mail },
  { name: 'v2', usual: LIMITED, act: recordV2 },
  { name: 'v3-mail', shown: true, usual: { ...CALL, ...OWN }, act: recordV3Mail },
  { name: 'v3', shown: true, usual: { ...LIMITED, ...SHARED }, act: recordV3 },
  { name: 'open', usual: { connection: 'close' }, act: recordOpen },
  { name: 'operator', shown: true, usual: { ...LIMITED, 'x-ratelimit-limit': '600' }, act: recordOperator },
]

/** Makes all calls to a new service and returns its answers, without values that differ from run to run. */
export async function recordAnswers(t: Test): Promise<Part[]> {
  const world = await makeWorld(t)
  const parts: Part[] = []
  for (const { name, shown, usual, act } of PARTS) {
    const recorder = createRecorder({ base: world.base, normalize: world.normalize, usual })
    await act(recorder, world)
    const file = fileURLToPath(new URL(`${name}.txt`, shown ? SHOWN_ANSWERS : OTHER_ANSWERS))
    const told = Object.entries(usual).map(([header, value]) => `${header}: ${value}`)
    parts.push({
      file,
      text: `Answers have these headers unless they say otherwise: ${told.join(', ')}.\n\n${recorder.text()}`,
      calls: recorder.calls,
    })
  }
  return parts
}

if (import.meta.main) {
  await withPostgres(async ({ url }) => {
    process.env.TEST_DATABASE_URL = url
    const ends: (() => unknown)[] = []
    const t = { teardown: (end: () => unknown) => void ends.unshift(end) } as unknown as Test
    try {
      for (const { file, text } of await recordAnswers(t)) writeFileSync(file, text)
    } finally {
      for (const end of ends) await end()
    }
  })
}
