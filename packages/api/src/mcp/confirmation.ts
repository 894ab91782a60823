import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { failed, told } from './answers.ts'
import type { Caller } from './caller.ts'
import type { Envelope } from './client-name.ts'
import type { Tool } from './tools.ts'

/** Characters of each argument that are shown to the person who confirms: a long text must not hide the recipients. */
const MAX_SHOWN = 400
const KEY = 'confirm'

interface Wanted {
  readonly tool: Tool
  readonly given: Readonly<Record<string, unknown>>
  /** The argument `confirm`. */
  readonly confirm: unknown
}

/** Confirmed with the id of a plan, or what the client gets instead. */
export type Verdict = { readonly plan: string } | { readonly answer: CallToolResult | InputRequiredResult }

/** The refusal of what would be refused, or what has to be known of it in addition to its arguments. */
export type Preview = { readonly refusal: CallToolResult } | { readonly notes: readonly string[] }

/**
 * Decides whether a call that sends or deletes may be done. Where the client can ask its user (elicitation of protocol 2026-07-28, which needs no
 * session), it does, and the plan comes back with the answer; otherwise the model gets the plan, and confirms it by a second call with the same arguments.
 *
 * `preview`: what is checked before anything is planned.
 */
export async function confirmed(
  { core, principal }: Caller,
  { tool, given, confirm }: Wanted,
  { mcpReq }: ServerContext,
  preview: () => Promise<Preview>,
): Promise<Verdict> {
  const plan = core.agentPlan({ keyId: principal.keyId, accountId: principal.account.id, tool: tool.name, given })
  // As everywhere, null is omitted. Otherwise a model that writes it would confirm in place of the user who is asked.
  const isGiven = confirm !== undefined && confirm !== null
  const id = isGiven ? confirm : mcpReq.requestState()
  if (id !== undefined) {
    if (typeof id !== 'string' || !plan.isOurs(id)) return { answer: failed(STALE) }
    if (isGiven) return { plan: id }
    const view = inputResponse(mcpReq.inputResponses, KEY)
    const isAccepted = view.kind === 'elicit' && view.action === 'accept' && view.content?.confirm === true
    return isAccepted ? { plan: id } : { answer: told('The user did not confirm it. Nothing was done.') }
  }
  const looked = await preview()
  if ('refusal' in looked) return { answer: looked.refusal }
  const made = plan.make()
  const what = [`${tool.operation.summary}.`, ...looked.notes, ...Object.entries(given).map(shownArgument)].join('\n')
  if (!canAsk(mcpReq)) return { answer: told(`Nothing was done yet. ${plannedText(tool, made)}\n\n${what}`) }
  const question = inputRequired.elicit({ mode: 'form', message: what, requestedSchema: FORM })
  return { answer: inputRequired({ inputRequests: { [KEY]: question }, requestState: made }) }
}

function shownArgument([name, value]: [string, unknown]): string {
  const text = JSON.stringify(value)
  if (text.length <= MAX_SHOWN) return `${name}: ${text}`
  return `${name}: ${text.slice(0, MAX_SHOWN)}… (${text.length} characters)`
}

const FORM = {
  type: 'object' as const,
  properties: { confirm: { type: 'boolean' as const, title: 'Do it', default: false } },
  required: ['confirm'],
}

const STALE =
  'confirm is not the id of a plan for these arguments and this key, or the plan is older than five minutes. Nothing was done: ' +
  'call again without confirm for a new plan'

function plannedText({ name }: Tool, id: string): string {
  return (
    `Show the user what follows. If they agree, call ${name} again within five minutes, with exactly the same arguments and ` +
    `confirm: "${id}".`
  )
}

/** An empty capability means forms, as in the first version of elicitation. */
function canAsk({ envelope }: ServerContext['mcpReq']): boolean {
  const { elicitation } = (envelope as Envelope | undefined)?.['io.modelcontextprotocol/clientCapabilities'] ?? {}
  if (typeof elicitation !== 'object' || elicitation === null) return false
  return 'form' in elicitation || Object.keys(elicitation).length === 0
}
