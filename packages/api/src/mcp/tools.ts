import { allows, type Principal } from '@postrider/core'
import type { Operation } from '../v2/operation.ts'
import { OPERATIONS } from '../v2/operations.ts'
import { type PlainSchema, plainSchema } from './plain-schema.ts'
import { TOOL_LIST, type ToolRow } from './tool-list.ts'

export interface Tool {
  /** The operation's name with underscores, as is usual for tools: `list_messages`. */
  readonly name: string
  readonly operation: Operation
  /** Names of its arguments. */
  readonly known: ReadonlySet<string>
  /** Names of those that it does nothing without. */
  readonly needed: readonly string[]
  readonly reads: boolean
  /** Whether it is done only after it was confirmed. */
  readonly asks: boolean
  readonly foreign: string | undefined
  /** As clients get it. */
  readonly shown: ShownTool
}

export interface ShownTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: PlainSchema & { readonly type: 'object' }
  readonly annotations: Readonly<Record<'readOnlyHint' | 'destructiveHint' | 'openWorldHint', boolean>>
}

/** The argument with which a plan is confirmed. */
const CONFIRM = {
  confirm: { type: 'string', description: 'id of the plan that the same call without it returned; omit it at first' },
}

export const TOOLS: ReadonlyMap<string, Tool> = new Map(
  TOOL_LIST.map(toolOf).map((tool): [string, Tool] => [tool.name, tool]),
)

/** Whether the key may use the tool; others are not listed. */
export function permits({ scopes }: Principal, { operation: { scope } }: Tool): boolean {
  return scope === null || allows(scopes, scope)
}

function toolOf(row: ToolRow): Tool {
  const operation = OPERATIONS.find(({ name }) => name === row.operation)
  if (!operation) throw new Error(`operation ${row.operation} not found`)
  const methods = new Set(operation.routes.flatMap(([, ...those]) => those))
  const reads = row.reads === true || methods.has('GET')
  const sends = operation.sends === true || operation.submits !== undefined
  const asks = !reads && (row.asks === true || sends || methods.has('DELETE'))
  const name = operation.name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const schema = plainSchema(operation.input)
  const properties = { ...(schema.properties as object), ...(asks ? CONFIRM : {}) }
  return {
    name,
    operation,
    known: new Set(Object.keys(operation.input.properties)),
    needed: (schema.required ?? []) as readonly string[],
    reads,
    asks,
    foreign: row.foreign,
    shown: {
      name,
      description: textOf(row, operation, asks),
      inputSchema: { ...schema, type: 'object', properties, additionalProperties: false },
      annotations: { readOnlyHint: reads, destructiveHint: asks, openWorldHint: sends && !reads },
    },
  }
}

function textOf({ about }: ToolRow, { summary, scope }: Operation, asks: boolean): string {
  return [
    summary,
    ...(about === undefined ? [] : [about]),
    ...(asks ? ['Nothing is done until it is confirmed'] : []),
    ...(scope === null ? [] : [`Scope: ${scope}`]),
  ]
    .map((sentence) => `${sentence}.`)
    .join(' ')
}
