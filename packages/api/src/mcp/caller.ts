import type { Core, Principal } from '@postrider/core'
import type { FastifyInstance } from 'fastify'
import { asAgent } from '../agent.ts'
import type { Operation } from '../v2/operation.ts'

/** The caller of /mcp. */
export interface Caller {
  readonly app: FastifyInstance
  readonly core: Core
  readonly publicUrl: string
  readonly principal: Principal
  readonly key: string
  readonly onBehalfOf: string | undefined
  readonly address: string
}

export interface Called {
  readonly status: number
  /** Its body as it was sent: numbers in it may be longer than JSON.parse keeps them. */
  readonly text: string
  /** Parameters that had no effect, as the header names them. */
  readonly ignored: string | undefined
}

interface Asked {
  readonly operation: Operation
  readonly given: Readonly<Record<string, unknown>>
  /** The program that asks. */
  readonly agent: string
  readonly idempotencyKey?: string | undefined
}

/** Calls an operation of v2 within the process, as if it had come from the network: the key, limits, errors and audit log are those of every call. */
export async function callOperation(
  caller: Caller,
  { operation, given, agent, idempotencyKey }: Asked,
): Promise<Called> {
  const { app, key, onBehalfOf, address } = caller
  const [path = ''] = operation.routes.find(([, ...methods]) => methods.includes('POST')) ?? []
  const body = { ...given }
  const url = path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = body[name]
    delete body[name]
    return segmentOf(value)
  })
  const response = await asAgent(agent, () =>
    app.inject({
      method: 'POST',
      url: `/v2${url}`,
      headers: {
        api_key: key,
        'content-type': 'application/json',
        ...(onBehalfOf === undefined ? {} : { 'on-behalf-of': onBehalfOf }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      payload: JSON.stringify(body),
      remoteAddress: address,
    }),
  )
  const { statusCode: status, headers, payload: text } = response
  return { status, text, ignored: headers['ignored-parameters']?.toString() }
}

const NO_IDS = new Set(['', '.', '..'])

/** A part of a path: "-", an unknown id, for what cannot be one, such as "..", by which the path would be that of another operation. */
function segmentOf(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && !NO_IDS.has(text) && text.isWellFormed() ? encodeURIComponent(text) : '-'
}

/** The error of a refused call, with what a model needs to correct it. */
export function refusalOf({ status, text }: Called): string {
  try {
    const { error_info: info } = JSON.parse(text) as { error_info?: { error_message?: string; error_code?: number } }
    return `${info?.error_message ?? 'The call was refused'} (status ${status}, code ${info?.error_code ?? status})`
  } catch {
    return `The call was refused (status ${status})`
  }
}
